/** Real files, rewritten as the CLI does. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  type StatusChange,
  type StatusFiles,
  watchStatusFiles,
} from "../../../../src/agents/claude/watch/status-files.ts";
import { createWorld, until, type World } from "../../../world.ts";

/** What a person would call at once. */
const soonMs = 250;
/** Where nothing tells, it is looked at every second. */
const nextLookMs = 2_500;

let world: World;
let files: StatusFiles | undefined;
let seen: string[] = [];
let errors: string[] = [];
beforeEach(() => {
  world = createWorld();
  seen = [];
  errors = [];
});
afterEach(async () => {
  files?.stop();
  await world.destroy();
});

const inFolder = (name: string) => join(world.claude, "sessions", name);
function follow(): StatusFiles {
  const onChange = ({ file, isGone }: StatusChange) =>
    void seen.push(
      isGone
        ? `${file.sessionId} gone`
        : [file.sessionId, file.status, file.waitingFor].filter(Boolean).join(" "),
    );
  files = watchStatusFiles(join(world.claude, "sessions"), onChange, (text) => void errors.push(text));
  return files;
}
const write = (pid: number, sessionId: string, status: string, more = {}) =>
  world.writeStatus(pid, { sessionId, status, ...more });
/** Seen, and nothing else was. */
async function sees(...expected: string[]): Promise<number> {
  const ms = await until(() => seen.length >= expected.length, 2_000).catch(() => Number.POSITIVE_INFINITY);
  expect(seen).toEqual(expected);
  seen = [];
  return ms;
}

describe("a status file", () => {
  test("of a session that runs already is seen at once", () => {
    write(process.pid, "a", "waiting", { waitingFor: "permission prompt" });
    follow();
    expect(seen).toEqual(["a waiting permission prompt"]);
  });

  test("emptied and written anew is seen at once, each change of it", async () => {
    write(process.pid, "a", "idle");
    follow();
    await sees("a idle");
    for (const status of ["busy", "waiting", "busy", "idle", "shell"]) {
      write(process.pid, "a", status);
      expect(await sees(`a ${status}`)).toBeLessThan(soonMs);
    }
  });

  test("put in place by a rename is seen at once", async () => {
    write(process.pid, "a", "idle");
    follow();
    await sees("a idle");
    const path = world.statusPath(process.pid);
    write(process.pid, "a", "busy");
    await sees("a busy");
    for (const status of ["waiting", "idle"]) {
      writeFileSync(`${path}.tmp`, JSON.stringify({ pid: process.pid, sessionId: "a", status }));
      renameSync(`${path}.tmp`, path);
      expect(await sees(`a ${status}`)).toBeLessThan(soonMs);
    }
  });

  test("caught in the middle of a write is read again when it is whole", async () => {
    write(process.pid, "a", "idle");
    follow();
    await sees("a idle");
    const text = JSON.stringify({ pid: process.pid, sessionId: "a", status: "busy" });
    const file = openSync(world.statusPath(process.pid), "w");
    await Bun.sleep(15);
    writeSync(file, text.slice(0, 20));
    await Bun.sleep(15);
    expect(seen).toEqual([]);
    writeSync(file, text.slice(20));
    closeSync(file);
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("rewritten with nothing new in it says nothing", async () => {
    write(process.pid, "a", "idle");
    const followed = follow();
    seen = [];
    write(process.pid, "a", "idle", { updatedAt: 1, other: "field" });
    await Bun.sleep(30);
    followed.scan();
    expect(seen).toEqual([]);
  });

  test("that names another session ends the first", async () => {
    write(process.pid, "a", "idle");
    const followed = follow();
    await sees("a idle");
    write(process.pid, "b", "idle");
    expect(await sees("a gone", "b idle")).toBeLessThan(soonMs);
    expect([followed.findFile("a"), followed.findFile("b")?.pid]).toEqual([null, process.pid]);
  });

  test("removed ends its session, and one written later brings it back", async () => {
    write(process.pid, "a", "idle");
    follow();
    await sees("a idle");
    unlinkSync(world.statusPath(process.pid));
    expect(await sees("a gone")).toBeLessThan(soonMs);
    write(process.pid, "a", "busy");
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("without a status is a session yet to come", async () => {
    world.writeStatus(process.pid, { sessionId: "a" });
    follow();
    await sees("a");
    write(process.pid, "a", "idle");
    await sees("a idle");
  });
});

describe("a process", () => {
  test("that is dead has no session, though kill -9 left its file", async () => {
    const agent = world.agent();
    write(agent.pid, "a", "busy");
    agent.child.kill("SIGKILL");
    await agent.child.exited;
    follow();
    expect(seen).toEqual([]);
  });

  test("that only has the pid of the one that wrote the file is not it", () => {
    write(process.pid, "a", "busy", { procStart: "1" });
    follow();
    expect(seen).toEqual([]);
  });

  test("that died before its file was rewritten ends its session", async () => {
    const agent = world.agent();
    write(agent.pid, "a", "busy");
    follow();
    agent.child.kill("SIGKILL");
    await agent.child.exited;
    write(agent.pid, "a", "idle", { procStart: agent.procStart });
    await sees("a busy", "a gone");
  });
});

describe("the folder", () => {
  test("may come later", async () => {
    follow();
    expect(seen).toEqual([]);
    write(process.pid, "a", "idle");
    expect(await sees("a idle")).toBeLessThan(nextLookMs);
    write(process.pid, "a", "busy");
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("may be removed and made anew", async () => {
    write(process.pid, "a", "idle");
    follow();
    await sees("a idle");
    rmSync(join(world.claude, "sessions"), { recursive: true });
    write(process.pid, "b", "idle");
    expect(await sees("a gone", "b idle")).toBeLessThan(nextLookMs);
    await Bun.sleep(1_050);
    write(process.pid, "b", "busy");
    expect(await sees("b busy")).toBeLessThan(soonMs);
  });

  test("may be a file: then there is nothing, and no error", () => {
    mkdirSync(world.claude, { recursive: true });
    writeFileSync(join(world.claude, "sessions"), "");
    follow();
    expect([seen, errors]).toEqual([[], []]);
  });
});

describe("other files", () => {
  test("are none of our business: keys, odd names, folders, what is too large", () => {
    write(process.pid, "a", "idle");
    const text = world.read(world.statusPath(process.pid));
    for (const name of [
      "1.key",
      "1.json.key",
      "a.json",
      "-1.json",
      "1.json~",
      ".1.json",
      "1.JSON",
      "x1.json",
    ]) {
      writeFileSync(inFolder(name), text.replace('"a"', '"odd"'));
    }
    mkdirSync(inFolder("2.json"));
    writeFileSync(inFolder("3.json"), text.replace('"a"', `"odd","x":"${"x".repeat(70_000)}"`));
    follow();
    expect(seen).toEqual(["a idle"]);
  });

  test("a pipe does not hold us up", async () => {
    write(process.pid, "a", "idle");
    expect(Bun.spawnSync(["mkfifo", inFolder("1.json")]).exitCode).toBe(0);
    const started = performance.now();
    follow();
    expect(performance.now() - started).toBeLessThan(soonMs);
    write(process.pid, "a", "busy");
    await sees("a idle", "a busy");
  });
});
