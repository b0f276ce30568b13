/** Install and doctor for opencode. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { opencodeSetup } from "../../../src/agents/opencode/setup/index.ts";
import { resolvePaths } from "../../../src/storage/paths.ts";
import { exec } from "../../../src/system/exec.ts";
import { removeHomes, temporaryHome } from "../../setup/home.ts";

afterAll(removeHomes);

const examine = async (env: Record<string, string | undefined>, binary: string) => {
  const { parts } = opencodeSetup.examine({
    env,
    cwd: null,
    exec,
    version: "1.0.0",
    state: join(env.HOME ?? "", ".local/state/beckon"),
    program: null,
    binary,
    readVersion: async () => "1.0.0",
    readSessionIds: async () => null,
  });
  return (await Promise.all(parts.map(({ findings }) => findings)))
    .flat()
    .map(({ id, state }) => `${id} ${state}`);
};

test("doctor sees a plugin of another beckon, one whose program is gone, and a start that will be slow", async () => {
  const { env, home } = temporaryHome();
  const path = opencodeSetup.settingsPath("user", env, "/") ?? "";
  const program = join(home, "beckon");
  const write = (binary: string, change: (text: string) => string = (text) => text) => {
    const { guardScope } = resolvePaths(env);
    const options = { version: null, binary, home: null, platform: "linux", guardScope } as const;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, change(opencodeSetup.createRegistration(options).add(null)));
  };
  expect(path).toBe(join(home, ".config/opencode/plugins/beckon.js"));
  expect(await examine(env, program)).toContain("opencode.none fail");

  write(program);
  expect(await examine(env, program)).toContain("opencode.gone fail");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  expect(await examine(env, program)).toEqual([
    "opencode.not-found warn",
    "opencode.registered ok",
    "opencode.slow-start warn",
  ]);
  expect(opencodeSetup.findWarnings("user", env, "/", "").join()).toContain("@opencode-ai/plugin");

  const support = join(home, ".config/opencode/node_modules/@opencode-ai/plugin/package.json");
  mkdirSync(dirname(support), { recursive: true });
  writeFileSync(support, "{}");
  write(program, (text) => text.replace("maxQueued = 500", "maxQueued = 400"));
  expect(await examine(env, program)).toEqual(["opencode.not-found warn", "opencode.older warn"]);
  expect(opencodeSetup.findWarnings("user", env, "/", "")).toEqual([]);
});

test("install replaces the plugin of an older beckon, and leaves one that beckon did not write", () => {
  const registration = opencodeSetup.createRegistration({
    ...{ version: null, binary: "/opt/new/beckon", home: null, platform: "linux" },
  });
  const older = '// beckon\'s plugin for opencode. An older one.\nconst binary = "/opt/beckon";\n';
  expect(registration.add(older)).toBe(registration.add(null));
  expect(opencodeSetup.entries.remove(older)).toBe("");
  expect(() => registration.add("export const Mine = async () => ({});\n")).toThrow(
    "not a file that beckon wrote",
  );
  expect(opencodeSetup.entries.remove("export const Mine = 1;\n")).toBe("export const Mine = 1;\n");
});

test("the plugin names a program and a folder with any characters in their paths", () => {
  const binary = `/opt/it's "my" $& \\ beckon`;
  const options = { version: null, binary, home: "/srv/$1", platform: "linux" } as const;
  const text = opencodeSetup.createRegistration(options).add(null);
  expect(text).toContain(`const binary = ${JSON.stringify(binary)};\nconst home = "/srv/$1";\n`);
  expect(opencodeSetup.entries.findHomes(text)).toEqual(["/srv/$1"]);
  expect(readFileSync(join(import.meta.dir, "../../../hooks/opencode.plugin.js"), "utf8")).toStartWith(
    text.slice(0, 100),
  );
});
