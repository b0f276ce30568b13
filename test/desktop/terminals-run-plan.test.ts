import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Exec } from "../../src/core/interfaces/index.ts";
import {
  askAppleScript,
  callKitty,
  filterOwnSockets,
  listWindows,
  readEnvironment,
  readLineage,
  run,
  runAppleScript,
} from "../../src/core/terminals/plan.ts";
import { parsePs, parseSocketTable } from "../../src/desktop/terminals/processes.ts";
import { createPlanRunner } from "../../src/desktop/terminals/run-plan.ts";
import { parseXauthority } from "../../src/desktop/x11.ts";
import { exec } from "../../src/system/exec.ts";
import { testWith } from "../needs.ts";

let folder: string;
let servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "beckon-machine-"));
});
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
  rmSync(folder, { recursive: true, force: true });
});

const createRunner = (
  env: Record<string, string> = {},
  platform: NodeJS.Platform = "linux",
  run: Exec = exec,
) => createPlanRunner({ platform, env: { PATH: process.env.PATH ?? "", ...env }, exec: run });

async function listen(name: string, onText: (text: string) => string): Promise<string> {
  const path = join(folder, name);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      const answer = onText(chunk.toString());
      if (answer !== "") socket.write(answer);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

describe("sockets", () => {
  test("only sockets of this user are used, by path or all in a folder", async () => {
    const own = await listen("own", () => "");
    const file = join(folder, "file");
    writeFileSync(file, "");
    const asked = [own, file, join(folder, "missing"), `${folder}/`];
    expect(await createRunner().run(filterOwnSockets(asked), 1_000)).toEqual([own, own]);
  });

  testWith("root")("another user's socket is not used, not even through a link", async () => {
    const theirs = await listen("theirs", () => "");
    chownSync(theirs, 65534, 65534);
    const link = join(folder, "link");
    symlinkSync(theirs, link);
    expect(await createRunner().run(filterOwnSockets([theirs, link]), 1_000)).toEqual([]);
  });

  test("kitty may answer, refuse, send nonsense, or not answer", async () => {
    const reply = (answer: unknown) => `\u001bP@kitty-cmd${JSON.stringify(answer)}\u001b\\`;
    const ask = async (name: string, answer: string) => {
      const path = await listen(name, () => answer);
      return createRunner().run(callKitty(`unix:${path}`, "ls", {}), 3_000);
    };
    expect(await ask("good", reply({ ok: true, data: '[{"id":1}]' }))).toEqual([{ id: 1 }]);
    expect(await ask("no", reply({ ok: false, error: "denied" }))).toBeNull();
    expect(await ask("odd", "\u001bP@kitty-cmd{oops\u001b\\")).toBeNull();
    expect(await createRunner().run(callKitty(`unix:${folder}/gone`, "ls", {}), 3_000)).toBeNull();
    const silent = await listen("silent", () => "");
    await expect(createRunner().run(callKitty(`unix:${silent}`, "ls", {}), 200)).rejects.toThrow("200 ms");
  });
});

describe("processes and programs", () => {
  testWith("linux")("a process has its parents and the variables it was started with", async () => {
    const child = Bun.spawn(["sleep", "60"], { env: { SHADE: "blue" } });
    const lineage = await createRunner().run(readLineage(child.pid), 1_000);
    expect(lineage[0]).toMatchObject({ pid: child.pid, parent: process.pid, name: "sleep" });
    expect(lineage[1]?.pid).toBe(process.pid);
    expect(await createRunner().run(readEnvironment(child.pid), 1_000)).toEqual({ SHADE: "blue" });
    child.kill();
    await child.exited;
    expect(await createRunner().run(readLineage(child.pid), 1_000)).toEqual([]);
  });

  test("without an X server there are no windows", async () => {
    expect(await createRunner({}).run(listWindows(), 1_000)).toBeNull();
    expect(await createRunner({ DISPLAY: ":31234" }).run(listWindows(), 1_000)).toBeNull();
  });

  test("a program is found outside of a short PATH, and a missing one is reported", async () => {
    const program = join(folder, ".local/bin/hello");
    mkdirSync(dirname(program), { recursive: true });
    writeFileSync(program, "#!/bin/sh\necho hi\n", { mode: 0o755 });
    const short = createPlanRunner({ platform: "linux", env: { PATH: "/bin", HOME: folder }, exec });
    expect(await short.run(run(["hello"]), 2_000)).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(await short.run(run(["no-such"]), 2_000)).toMatchObject({ code: null });
  });

  test("a plan with a step that hangs ends in time", async () => {
    const started = performance.now();
    await expect(createRunner().run(run(["sleep", "60"]), 50)).rejects.toThrow("50 ms");
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe("macOS", () => {
  test("an app that the user has not allowed is tried again after 10 minutes, other apps at once", async () => {
    writeFileSync(join(folder, "osascript"), "#!/bin/sh\n", { mode: 0o755 });
    const asked: string[][] = [];
    let now = 0;
    const denying: Exec = async (argv) => {
      asked.push([...argv.slice(1)]);
      return { code: 1, stdout: "", stderr: "execution error: Not authorized to send Apple events. (-1743)" };
    };
    const mac = createPlanRunner({
      platform: "darwin",
      env: { PATH: folder },
      exec: denying,
      now: () => now,
    });
    expect(await mac.run(runAppleScript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000)).toBe("denied");
    expect(await mac.run(runAppleScript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000)).toBe("denied");
    expect(await mac.run(runAppleScript("Ghostty", "SCRIPT", "id", "x"), 1_000)).toBe("denied");
    expect(asked).toEqual([
      ["-e", "SCRIPT", "/dev/ttys001"],
      ["-e", "SCRIPT", "id", "x"],
    ]);
    now = 9 * 60_000;
    await mac.run(runAppleScript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000);
    expect(asked).toHaveLength(2);
    now = 10 * 60_000;
    await mac.run(runAppleScript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000);
    expect(asked).toHaveLength(3);
  });

  test("while macOS asks, the script waits for you, and nothing asks a second time", async () => {
    writeFileSync(join(folder, "osascript"), "#!/bin/sh\n", { mode: 0o755 });
    const question = Promise.withResolvers<void>();
    const asked: string[] = [];
    const mac = createPlanRunner({
      platform: "darwin",
      env: { PATH: folder },
      async exec([, , script = ""]) {
        asked.push(script);
        await question.promise;
        return { code: 0, stdout: "found\n", stderr: "" };
      },
    });
    // To look at a pane is no reason to ask.
    expect(await mac.run(askAppleScript("Terminal", "LOOK"), 1_000)).toBeNull();
    expect(await mac.run(runAppleScript("Terminal", "SHOW"), 100).catch(() => "too late")).toBe("asking");
    expect(await mac.run(runAppleScript("Terminal", "SHOW"), 100).catch(() => "too late")).toBe("asking");
    expect(asked).toEqual(["SHOW"]);
    question.resolve();
    expect(await mac.run(runAppleScript("Terminal", "SHOW"), 5_000)).toBe("found");
    expect(await mac.run(askAppleScript("Terminal", "LOOK"), 5_000)).toBe("found");
    expect(asked.at(-1)).toBe("LOOK");
  });

  test("the output of ps may have programs with spaces, and processes without a terminal", () => {
    const text = [
      "    1     0 ??       Sun Nov  1 09:00:00 2026     /sbin/launchd",
      "  512     1 ??       Wed Nov 18 08:57:48 2026     /Applications/Visual Studio Code.app/Contents/MacOS/Electron",
      "  900   512 ttys003  Wed Nov 18 09:00:01 2026     -zsh",
    ].join("\n");
    const at = (minutes: number, seconds: number) => Date.UTC(2026, 10, 18, 8, minutes, seconds);
    expect(parsePs(text)).toEqual([
      {
        ...{ pid: 1, parent: 0, tty: null, name: "launchd", program: "/sbin/launchd", start: null },
        startedAt: Date.UTC(2026, 10, 1, 9),
      },
      {
        ...{ pid: 512, parent: 1, tty: null, name: "Electron", start: null, startedAt: at(57, 48) },
        program: "/Applications/Visual Studio Code.app/Contents/MacOS/Electron",
      },
      {
        ...{ pid: 900, parent: 512, tty: "/dev/ttys003", name: "zsh", program: "-zsh", start: null },
        startedAt: at(60, 1),
      },
    ]);
  });
});

test("a connection is found by both of its ports, while it is open", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0500000A:C822 0900000A:0016 01 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0000000000000000",
    "   1: 0500000A:C822 0900000A:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 31338 1 0000000000000000",
    "   2: 0500000A:C823 0900000A:0016 06 00000000:00000000 00:00000000 00000000     0        0 0 3 0000000000000000",
  ].join("\n");
  expect(parseSocketTable(table, { localPort: 0xc822, remotePort: 22 })).toEqual(["31337"]);
  expect(parseSocketTable(table, { localPort: 0xc823, remotePort: 22 })).toEqual([]);
});

test("a connection with the right ports counts only if one of its addresses is right, in any spelling", () => {
  const ipv4 = "   0: 0500000A:C822 0900000A:0016 01 0:0 00:0 0  1000        0 31337 1 0";
  const mapped =
    "   0: 0000000000000000FFFF00000500000A:C822 0000000000000000FFFF00000900000A:0016 01 0:0 00:0 0  1000        0 31337 1 0";
  const ipv6 =
    "   0: B80D0120000000000000000005000000:C822 000080FE00000000FF00FE0002000000:0016 01 0:0 00:0 0  1000        0 31337 1 0";
  const isFound = (table: string, local: string, remote: string) =>
    parseSocketTable(table, { localPort: 0xc822, remotePort: 22, addresses: { local, remote } }).length === 1;
  for (const table of [ipv4, mapped]) {
    expect(isFound(table, "10.0.0.5", "10.0.0.9")).toBe(true);
    expect(isFound(table, "198.51.100.7", "10.0.0.9")).toBe(true);
    expect(isFound(table, "10.0.0.5", "198.51.100.7")).toBe(true);
    expect(isFound(table, "198.51.100.7", "172.16.0.9")).toBe(false);
  }
  expect(isFound(ipv6, "2001:0db8:0::5", "::1")).toBe(true);
  expect(isFound(ipv6, "::1", "fe80::fe:ff:0:2%eth0")).toBe(true);
  expect(isFound(ipv6, "::1", "::2")).toBe(false);
});

test("a cookie file that is cut short gives its complete entries", () => {
  const formatPart = (text: string) => Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
  const entry = (display: string) =>
    Buffer.concat([
      Buffer.from([1, 0]),
      formatPart("host"),
      formatPart(display),
      formatPart("MIT-MAGIC-COOKIE-1"),
      formatPart("secret"),
    ]);
  const file = Buffer.concat([entry("0"), entry("1")]);
  expect(parseXauthority(file).map(({ family, display }) => [family, display])).toEqual([
    [256, "0"],
    [256, "1"],
  ]);
  for (let length = 0; length < file.length; length++) {
    expect(parseXauthority(file.subarray(0, length)).length).toBe(length < entry("0").length ? 0 : 1);
  }
});
