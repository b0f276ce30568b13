import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Exec } from "../../src/core/ports.ts";
import { findSockets } from "../../src/desktop/terminals/connections.ts";
import { createMachine } from "../../src/desktop/terminals/machine.ts";
import {
  applescript,
  environment,
  kitty,
  lineage,
  ownSockets,
  run,
  windows,
} from "../../src/desktop/terminals/plan.ts";
import { readPs } from "../../src/desktop/terminals/processes.ts";
import { displayNumber } from "../../src/desktop/x11.ts";
import { readEntries } from "../../src/desktop/xauthority.ts";
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

const machine = (env: Record<string, string> = {}, platform: NodeJS.Platform = "linux", run: Exec = exec) =>
  createMachine({ platform, env: { PATH: process.env.PATH ?? "", ...env }, exec: run });

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
  test("only sockets of this user's are spoken to, by path or all in a folder", async () => {
    const own = await listen("own", () => "");
    const file = join(folder, "file");
    writeFileSync(file, "");
    const asked = [own, file, join(folder, "missing"), `${folder}/`];
    expect(await machine().carryOut(ownSockets(asked), 1_000)).toEqual([own, own]);
  });

  testWith("root")("another user's socket is none of ours, also behind a link", async () => {
    const theirs = await listen("theirs", () => "");
    chownSync(theirs, 65534, 65534);
    const link = join(folder, "link");
    symlinkSync(theirs, link);
    expect(await machine().carryOut(ownSockets([theirs, link]), 1_000)).toEqual([]);
  });

  test("kitty that answers, refuses, talks nonsense, or says nothing", async () => {
    const reply = (answer: unknown) => `\u001bP@kitty-cmd${JSON.stringify(answer)}\u001b\\`;
    const ask = async (name: string, answer: string) => {
      const path = await listen(name, () => answer);
      return machine().carryOut(kitty(`unix:${path}`, "ls", {}), 3_000);
    };
    expect(await ask("good", reply({ ok: true, data: '[{"id":1}]' }))).toEqual([{ id: 1 }]);
    expect(await ask("no", reply({ ok: false, error: "denied" }))).toBeNull();
    expect(await ask("odd", "\u001bP@kitty-cmd{oops\u001b\\")).toBeNull();
    expect(await machine().carryOut(kitty(`unix:${folder}/gone`, "ls", {}), 3_000)).toBeNull();
    const silent = await listen("silent", () => "");
    expect(machine().carryOut(kitty(`unix:${silent}`, "ls", {}), 200)).rejects.toThrow("200 ms");
  });
});

describe("the system", () => {
  testWith("linux")("knows a process's parents and what it was started with", async () => {
    const child = Bun.spawn(["sleep", "60"], { env: { SHADE: "blue" } });
    const line = await machine().carryOut(lineage(child.pid), 1_000);
    expect(line[0]).toMatchObject({ pid: child.pid, parent: process.pid, name: "sleep" });
    expect(line[1]?.pid).toBe(process.pid);
    expect(await machine().carryOut(environment(child.pid), 1_000)).toEqual({ SHADE: "blue" });
    child.kill();
    await child.exited;
    expect(await machine().carryOut(lineage(child.pid), 1_000)).toEqual([]);
  });

  test("no X server, no windows", async () => {
    expect(await machine({}).carryOut(windows(), 1_000)).toBeNull();
    expect(await machine({ DISPLAY: ":31234" }).carryOut(windows(), 1_000)).toBeNull();
  });

  test("a program that is not installed, and one outside of a short PATH", async () => {
    const program = join(folder, ".local/bin/hello");
    mkdirSync(dirname(program), { recursive: true });
    writeFileSync(program, "#!/bin/sh\necho hi\n", { mode: 0o755 });
    const short = createMachine({ platform: "linux", env: { PATH: "/bin", HOME: folder }, exec });
    expect(await short.carryOut(run(["hello"]), 2_000)).toMatchObject({ code: 0, stdout: "hi\n" });
    expect(await short.carryOut(run(["no-such"]), 2_000)).toMatchObject({ code: null });
  });

  test("a plan whose step hangs ends in time", async () => {
    const started = performance.now();
    expect(machine().carryOut(run(["sleep", "60"]), 50)).rejects.toThrow("50 ms");
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe("macOS", () => {
  test("an app that the person has not let us steer is asked again after 10 minutes, others at once", async () => {
    writeFileSync(join(folder, "osascript"), "#!/bin/sh\n", { mode: 0o755 });
    const asked: string[][] = [];
    let now = 0;
    const denying: Exec = async (argv) => {
      asked.push([...argv.slice(1)]);
      return { code: 1, stdout: "", stderr: "execution error: Not authorized to send Apple events. (-1743)" };
    };
    const mac = createMachine({ platform: "darwin", env: { PATH: folder }, exec: denying, now: () => now });
    expect(await mac.carryOut(applescript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000)).toBe("denied");
    expect(await mac.carryOut(applescript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000)).toBe("denied");
    expect(await mac.carryOut(applescript("Ghostty", "SCRIPT", "id", "x"), 1_000)).toBe("denied");
    expect(asked).toEqual([
      ["-e", "SCRIPT", "/dev/ttys001"],
      ["-e", "SCRIPT", "id", "x"],
    ]);
    now = 9 * 60_000;
    await mac.carryOut(applescript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000);
    expect(asked).toHaveLength(2);
    now = 10 * 60_000;
    await mac.carryOut(applescript("Terminal", "SCRIPT", "/dev/ttys001"), 1_000);
    expect(asked).toHaveLength(3);
  });

  test("what ps prints: programs with spaces, and no terminal", () => {
    const text = [
      "    1     0 ??       /sbin/launchd",
      "  512     1 ??       /Applications/Visual Studio Code.app/Contents/MacOS/Electron",
      "  900   512 ttys003  -zsh",
    ].join("\n");
    expect(readPs(text)).toEqual([
      { pid: 1, parent: 0, tty: null, name: "launchd", program: "/sbin/launchd", start: null },
      {
        ...{ pid: 512, parent: 1, tty: null, name: "Electron", start: null },
        program: "/Applications/Visual Studio Code.app/Contents/MacOS/Electron",
      },
      { pid: 900, parent: 512, tty: "/dev/ttys003", name: "zsh", program: "-zsh", start: null },
    ]);
  });
});

test.each([
  [":0", 0],
  [":12.0", 12],
  ["unix:3", 3],
  ["localhost:10.0", null],
  ["/private/tmp/x:0", null],
  ["", null],
])("display %s", (display, number) => {
  expect(displayNumber(display)).toBe(number);
});

test("a connection is told by both of its ports, while it stands", () => {
  const table = [
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
    "   0: 0500000A:C822 0900000A:0016 01 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0000000000000000",
    "   1: 0500000A:C822 0900000A:01BB 01 00000000:00000000 00:00000000 00000000  1000        0 31338 1 0000000000000000",
    "   2: 0500000A:C823 0900000A:0016 06 00000000:00000000 00:00000000 00000000     0        0 0 3 0000000000000000",
  ].join("\n");
  expect(findSockets(table, 0xc822, 22)).toEqual(["31337"]);
  expect(findSockets(table, 0xc823, 22)).toEqual([]);
});

test("a cookie file that is cut short gives what is whole", () => {
  const part = (text: string) => Buffer.concat([Buffer.from([0, text.length]), Buffer.from(text)]);
  const entry = (display: string) =>
    Buffer.concat([
      Buffer.from([1, 0]),
      part("host"),
      part(display),
      part("MIT-MAGIC-COOKIE-1"),
      part("secret"),
    ]);
  const file = Buffer.concat([entry("0"), entry("1")]);
  expect(readEntries(file).map(({ family, display }) => [family, display])).toEqual([
    [256, "0"],
    [256, "1"],
  ]);
  for (let length = 0; length < file.length; length++) {
    expect(readEntries(file.subarray(0, length)).length).toBe(length < entry("0").length ? 0 : 1);
  }
});
