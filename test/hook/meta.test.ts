import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, readlinkSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { limits } from "../../src/core/limits.ts";
import { describeSurroundings } from "../../src/hook/meta.ts";
import { createSecret } from "../../src/system/endpoint.ts";
import { nameInstallation } from "../../src/system/installation.ts";
import { formatTty } from "../../src/system/process-stat.ts";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createHarness,
  environment,
  event,
  expectNoOutput,
  finish,
  parseEnvelope,
  start,
} from "./harness.ts";

const harness = forEachTest(createHarness);

describe("_meta", () => {
  const metaOf = async (env: Record<string, string>, args: string[] = []) => {
    expectNoOutput(await harness.forward(JSON.stringify(event), env, args));
    return parseEnvelope(harness.spool().at(-1))._meta;
  };

  test("has the time, the folder and the version", async () => {
    const before = Date.now();
    const meta = await metaOf({ CLAUDE_PROJECT_DIR: "/home/dev/my proj/" });
    expect(meta.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(meta.at).toBeWithin(before, Date.now() + 1);
    expect(Date.parse(meta.collected_at)).toBe(meta.at);
    expect(meta.workspace_id).toBe("my proj");
    expect(meta.forwarder_version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("without a project folder, the current folder names the workspace", async () => {
    const folder = harness.inHome("here");
    mkdirSync(folder);
    await harness.forward(JSON.stringify(event), {}, [], folder);
    expect(parseEnvelope(harness.spool()[0])._meta.workspace_id).toBe("here");
  });

  testWith("linux")("has the time since boot, which does not change with the wall clock", async () => {
    const uptime = () => Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1e6;
    const before = uptime();
    const meta = await metaOf({});
    expect(meta.seq).toBeWithin(before, uptime() + 1);
    expect(meta.boot).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
    expect(meta.host).toBe(`${meta.boot}/${readlinkSync("/proc/self/ns/pid")}`);
  });

  testWith("linux")("has the agent's process from CLAUDE_PID, with its start time", async () => {
    const meta = await metaOf({ CLAUDE_PID: String(process.pid) });
    const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
    expect(meta.pid).toBe(process.pid);
    expect(meta.procStart).toBe(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  });

  testWith("linux")("finds the agent's process behind the shell if CLAUDE_PID is missing", async () => {
    symlinkSync(realpathSync("/bin/sh"), harness.inHome("claude"));
    const inner = `sh -c '"${beckonHook.join('" "')}"; true'; true`;
    const agent = start([harness.inHome("claude"), "-c", inner], environment(harness.home));
    agent.stdin.write(JSON.stringify(event));
    agent.stdin.end();
    expectNoOutput(await finish(agent, 0));
    expect(parseEnvelope(harness.spool()[0])._meta.pid).toBe(agent.pid);
  });

  test("ignores the variables of a Claude Code that runs another agent", async () => {
    const claude = { CLAUDE_PID: "1234567", CLAUDE_CODE_SESSION_ATTENDED: "1" };
    const meta = await metaOf(claude, ["codex"]);
    expect(meta.pid).not.toBe(1234567);
    expect(meta.attended).toBeNull();
  });

  test("has whether a user attends the session", async () => {
    expect((await metaOf({ CLAUDE_CODE_SESSION_ATTENDED: "1" })).attended).toBe(true);
    expect((await metaOf({ CLAUDE_CODE_SESSION_ATTENDED: "0" })).attended).toBe(false);
    expect((await metaOf({ CLAUDE_CODE_ENTRYPOINT: "sdk-cli" })).attended).toBe(false);
    expect((await metaOf({ CLAUDE_CODE_ENTRYPOINT: "cli" })).attended).toBeNull();
    const background = {
      CLAUDE_CODE_SESSION_ATTENDED: "0",
      CLAUDE_JOB_DIR: "/home/dev/.claude/jobs/4da40465",
    };
    expect((await metaOf({ ...background, CLAUDE_CODE_ENTRYPOINT: "cli" })).attended).toBe(true);
    expect((await metaOf({ ...background, CLAUDE_CODE_ENTRYPOINT: "sdk-cli" })).attended).toBe(false);
  });

  test("has the variables of the terminal and no others", async () => {
    const terminal = { TMUX: "/tmp/tmux-0/default,45,0", TMUX_PANE: "%3", TERM_SESSION_ID: "w0t0p0" };
    const secrets = {
      ANTHROPIC_API_KEY: "hush",
      WARP_API_KEY: "hush",
      KONSOLE_DBUS_ACTIVATION_COOKIE: "hush",
    };
    const meta = await metaOf({ ...terminal, ...secrets, WINDOWID: "1".repeat(limits.maxEnvLength + 1) });
    expect(meta.env).toEqual(terminal);
    expect(meta.terminal_session_id).toBe("w0t0p0");
    expect(harness.spool().join()).not.toContain("hush");
  });

  test("has the terminal's name from its device number", () => {
    expect(formatTty(0x8800)).toBe("/dev/pts/0");
    expect(formatTty(0x8811)).toBe("/dev/pts/17");
    expect(formatTty(0x108801)).toBe("/dev/pts/257");
    expect(formatTty(0x0401)).toBe("/dev/tty1");
    expect(formatTty(0x0440)).toBe("/dev/ttyS0");
    expect(formatTty(0)).toBeNull();
  });
});

test("on macOS and Windows an event is this machine's under any name that the network gives it", async () => {
  const authHeader = harness.inHome("auth-header");
  const token = createSecret();
  writeFileSync(authHeader, `Authorization: Bearer ${token}\n`, { mode: 0o600 });
  const meta = await describeSurroundings(null, Promise.resolve({ paths: { authHeader } }));
  expect(JSON.stringify(meta)).not.toContain(hostname());
  const isLocal = (installation: string) =>
    openEnvelope({ provider: "codex", _meta: meta, payload: {} }, "claude", installation)?.meta.place;
  expect(isLocal(nameInstallation(token))).toMatchObject({
    local: true,
    pid: null,
    hookParent: process.ppid,
  });
  expect(isLocal(nameInstallation(createSecret()))).toMatchObject({ local: false });
});
