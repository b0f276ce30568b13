/** Status files that are rewritten as the CLI does it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import {
  type StatusChange,
  type StatusFiles,
  watchStatusFiles,
} from "../../../../src/agents/claude/watch/status-files.ts";
import { type AppFixture, createAppFixture } from "../../../app-fixture.ts";
import { waitUntil } from "../../../wait-until.ts";

/** What a user perceives as at once. */
const soonMs = 250;

let fixture: AppFixture;
let files: StatusFiles | undefined;
let seen: string[] = [];
let errors: string[] = [];
beforeEach(() => {
  fixture = createAppFixture();
  seen = [];
  errors = [];
});
afterEach(async () => {
  files?.stop();
  await fixture.destroy();
});

const inFolder = (name: string) => join(fixture.claudeFolder, "sessions", name);
function watchFiles(): StatusFiles {
  const onChange = ({ file, isGone }: StatusChange) =>
    void seen.push(
      isGone
        ? `${file.sessionId} gone`
        : [file.sessionId, file.status, file.waitingFor].filter(Boolean).join(" "),
    );
  files = watchStatusFiles(
    join(fixture.claudeFolder, "sessions"),
    onChange,
    (text) => void errors.push(text),
  );
  return files;
}
const write = (pid: number, sessionId: string, status: string, more = {}) =>
  fixture.writeStatus(pid, { sessionId, status, ...more });
/** Waits until exactly these changes were seen. */
async function sees(...expected: string[]): Promise<number> {
  const ms = await waitUntil(() => seen.length >= expected.length, 2_000).catch(
    () => Number.POSITIVE_INFINITY,
  );
  expect(seen).toEqual(expected);
  seen = [];
  return ms;
}

/** Watches an idle session. Right after the start a change may be found by the next poll only, so the first one is not timed. */
async function watchIdle(): Promise<StatusFiles> {
  write(process.pid, "a", "busy");
  const watched = watchFiles();
  await sees("a busy");
  write(process.pid, "a", "idle");
  await sees("a idle");
  return watched;
}

describe("a status file", () => {
  test("of a running session is read at once", () => {
    write(process.pid, "a", "waiting", { waitingFor: "permission prompt" });
    watchFiles();
    expect(seen).toEqual(["a waiting permission"]);
  });

  test("that is emptied and rewritten is read at once, at each change", async () => {
    await watchIdle();
    for (const status of ["busy", "waiting", "busy", "idle", "shell"]) {
      write(process.pid, "a", status);
      expect(await sees(`a ${status}`)).toBeLessThan(soonMs);
    }
  });

  test("that is replaced by a rename is read at once", async () => {
    await watchIdle();
    const path = fixture.statusPath(process.pid);
    for (const status of ["waiting", "idle"]) {
      writeFileSync(`${path}.tmp`, JSON.stringify({ pid: process.pid, sessionId: "a", status }));
      renameSync(`${path}.tmp`, path);
      expect(await sees(`a ${status}`)).toBeLessThan(soonMs);
    }
  });

  test("that is half written is read again when it is complete", async () => {
    const watched = await watchIdle();
    const text = JSON.stringify({ pid: process.pid, sessionId: "a", status: "busy" });
    const file = openSync(fixture.statusPath(process.pid), "w");
    watched.scan();
    writeSync(file, text.slice(0, 20));
    watched.scan();
    expect(seen).toEqual([]);
    writeSync(file, text.slice(20));
    closeSync(file);
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("that is rewritten without a change reports nothing", async () => {
    write(process.pid, "a", "idle");
    const watched = watchFiles();
    seen = [];
    write(process.pid, "a", "idle", { updatedAt: 1, other: "field" });
    watched.scan();
    expect(seen).toEqual([]);
  });

  test("whose change nothing reports is found by a scan, even if size and times are the same", () => {
    write(process.pid, "a", "idle");
    const path = fixture.statusPath(process.pid);
    const { mtime, atime } = statSync(path);
    const watched = watchFiles();
    seen = [];
    writeFileSync(path, fixture.read(path).replace('"idle"', '"busy"'));
    utimesSync(path, atime, mtime);
    watched.scan();
    expect(seen).toEqual(["a busy"]);
  });

  test("that names another session ends the first", async () => {
    const watched = await watchIdle();
    write(process.pid, "b", "idle");
    expect(await sees("a gone", "b idle")).toBeLessThan(soonMs);
    expect([watched.findFile("a"), watched.findFile("b")?.pid]).toEqual([null, process.pid]);
  });

  test("that is removed ends its session, and one that is written later restores it", async () => {
    await watchIdle();
    unlinkSync(fixture.statusPath(process.pid));
    expect(await sees("a gone")).toBeLessThan(soonMs);
    write(process.pid, "a", "busy");
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("without a status is not a session yet", async () => {
    fixture.writeStatus(process.pid, { sessionId: "a" });
    watchFiles();
    await sees("a");
    write(process.pid, "a", "idle");
    await sees("a idle");
  });
});

describe("a process", () => {
  test("that was killed has no session, though its file is still there", async () => {
    const agent = fixture.startAgent();
    write(agent.pid, "a", "busy");
    agent.child.kill("SIGKILL");
    await agent.child.exited;
    watchFiles();
    expect(seen).toEqual([]);
  });

  test("with the same pid as the one that wrote the file is not it", () => {
    write(process.pid, "a", "busy", { procStart: "1" });
    watchFiles();
    expect(seen).toEqual([]);
  });

  test("that died before its file was rewritten ends its session", async () => {
    const agent = fixture.startAgent();
    write(agent.pid, "a", "busy");
    watchFiles();
    agent.child.kill("SIGKILL");
    await agent.child.exited;
    write(agent.pid, "a", "idle", { procStart: agent.procStart });
    await sees("a busy", "a gone");
  });
});

describe("the folder", () => {
  test("may be created later: the next scan finds it, and from then on changes are seen at once", async () => {
    const watched = watchFiles();
    expect(seen).toEqual([]);
    write(process.pid, "a", "idle");
    watched.scan();
    await sees("a idle");
    write(process.pid, "a", "busy");
    expect(await sees("a busy")).toBeLessThan(soonMs);
  });

  test("may be removed and created again", async () => {
    write(process.pid, "a", "idle");
    const watched = watchFiles();
    await sees("a idle");
    rmSync(join(fixture.claudeFolder, "sessions"), { recursive: true });
    write(process.pid, "b", "idle");
    watched.scan();
    await sees("a gone", "b idle");
    write(process.pid, "b", "busy");
    expect(await sees("b busy")).toBeLessThan(soonMs);
  });

  test("may be a file: then there are no sessions and no error", () => {
    mkdirSync(fixture.claudeFolder, { recursive: true });
    writeFileSync(join(fixture.claudeFolder, "sessions"), "");
    watchFiles();
    expect([seen, errors]).toEqual([[], []]);
  });
});

describe("other files", () => {
  test("are ignored: keys, odd names, folders, files that are too large", () => {
    write(process.pid, "a", "idle");
    const text = fixture.read(fixture.statusPath(process.pid));
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
    watchFiles();
    expect(seen).toEqual(["a idle"]);
  });

  test("a pipe does not block", async () => {
    write(process.pid, "a", "idle");
    expect(Bun.spawnSync(["mkfifo", inFolder("1.json")]).exitCode).toBe(0);
    const started = performance.now();
    watchFiles();
    expect(performance.now() - started).toBeLessThan(soonMs);
    write(process.pid, "a", "busy");
    await sees("a idle", "a busy");
  });
});
