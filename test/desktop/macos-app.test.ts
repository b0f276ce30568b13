/** beckon.app: built, found again, renewed after an update, and removed. Its program is a script here, and codesign a stand-in. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Exec } from "../../src/core/interfaces/index.ts";
import {
  macAppOf,
  placeMacApp,
  readMacAppSource,
  removeMacApp,
  renewMacApp,
} from "../../src/desktop/login/mac-app.ts";
import { createMacLoginItem } from "../../src/desktop/login/macos.ts";
import { exec } from "../../src/system/exec.ts";
import { removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";

afterAll(removeTemporaryFolders);

function prepare(script = "echo beckon 1.0.0", signCode = 0) {
  const home = temporaryFolder();
  const binary = join(home, "beckon");
  const write = (text: string) => writeFileSync(binary, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write(script);
  const ran: string[] = [];
  const mac: Exec = async (argv) => {
    ran.push(argv.join(" "));
    if (argv[0]?.endsWith("codesign")) return { code: signCode, stdout: "", stderr: "no identity" };
    return argv[0]?.endsWith("launchctl") ? { code: 0, stdout: "", stderr: "" } : exec(argv);
  };
  return { home, binary, write, ran, mac, ...macAppOf(home) };
}

test("the app has a name, an identity, a sentence for macOS's question, and the program itself", async () => {
  const { home, binary, mac, ran, program, info, app } = prepare();
  expect(await placeMacApp(home, binary, mac)).toBeNull();
  expect(readFileSync(program)).toEqual(readFileSync(binary));
  expect(statSync(program).mode & 0o111).not.toBe(0);
  const plist = readFileSync(info, "utf8");
  for (const text of ["dev.beckon", "LSUIElement", "NSAppleEventsUsageDescription"])
    expect(plist).toContain(text);
  expect(ran[0]).toBe(`/usr/bin/codesign --force --sign - --identifier dev.beckon ${app}.beckon-tmp`);
  expect(readdirSync(dirname(app))).toEqual(["beckon.app"]);
  expect(readMacAppSource(home)).toBe(binary);
  removeMacApp(home);
  expect(existsSync(app)).toBe(false);
});

test.each([
  ["cannot be signed", "echo beckon 1.0.0", 1, "it could not be signed (no identity)"],
  ["does not start", "exit 9", 0, "its program does not start"],
] as const)(
  "an app that %s is not kept, and launchd starts the program itself",
  async (_, script, code, why) => {
    const { home, binary, mac, app } = prepare(script, code);
    const item = createMacLoginItem({ home, uid: 501, exec: mac });
    expect(await item.enable({ binary, home: null })).toEndWith(`without ${app}: ${why}`);
    expect(existsSync(app)).toBe(false);
    expect(await item.state()).toMatchObject({ on: true, binary, problem: null });
  },
);

test("launchd starts the app, which counts as the program that it was made of, and goes with the login item", async () => {
  const { home, binary, mac, app, program } = prepare();
  const item = createMacLoginItem({ home, uid: 501, exec: mac });
  expect(await item.enable({ binary, home: null })).toStartWith("beckon runs, and starts when you log in");
  const plist = readFileSync(join(home, "Library/LaunchAgents/local.beckon.plist"), "utf8");
  expect(plist).toContain(`<string>${program}</string>`);
  expect(plist).toMatch(/AssociatedBundleIdentifiers<\/key>\s*<string>dev\.beckon</);
  expect(await item.state()).toMatchObject({ on: true, binary, problem: null });
  await item.disable();
  expect(existsSync(app)).toBe(false);
});

test("after an update the app is built again at the next login, and only then", async () => {
  const { home, binary, write, mac, program } = prepare();
  await placeMacApp(home, binary, mac);
  expect(await renewMacApp(home, program, mac)).toBe(false);
  write("echo beckon 2.0.0, a longer one");
  expect(await renewMacApp(home, binary, mac)).toBe(false);
  expect(await renewMacApp(home, program, mac)).toBe(true);
  expect(readFileSync(program, "utf8")).toContain("2.0.0");
  expect(await renewMacApp(home, program, mac)).toBe(false);
});

test("an app of that name which is not beckon's is left alone", async () => {
  const { home, binary, mac, app, info } = prepare();
  mkdirSync(dirname(info), { recursive: true });
  writeFileSync(info, "<string>com.example.other</string>");
  expect(await placeMacApp(home, binary, mac)).toBe(`${app} is not beckon's own`);
  removeMacApp(home);
  expect(existsSync(info)).toBe(true);
});
