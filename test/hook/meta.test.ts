import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, readlinkSync, realpathSync, symlinkSync } from "node:fs";
import { limits } from "../../src/core/limits.ts";
import { formatTty } from "../../src/hook/meta.ts";
import { testWith } from "../needs.ts";
import {
  beckonHook,
  createWorld,
  environment,
  event,
  expectSilence,
  finish,
  open,
  start,
  type World,
} from "./world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

describe("_meta", () => {
  const metaOf = async (env: Record<string, string>, args: string[] = []) => {
    expectSilence(await world.forward(JSON.stringify(event), env, args));
    return open(world.spool().at(-1))._meta;
  };

  test("says when, from which folder, and by which version", async () => {
    const before = Date.now();
    const meta = await metaOf({ CLAUDE_PROJECT_DIR: "/home/dev/my proj/" });
    expect(meta.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(meta.at).toBeWithin(before, Date.now() + 1);
    expect(Date.parse(meta.collected_at)).toBe(meta.at);
    expect(meta.workspace_id).toBe("my proj");
    expect(meta.forwarder_version).toMatch(/^\d+\.\d+\.\d+/);
  });

  test("without a project folder, the current one names the workspace", async () => {
    const folder = world.inHome("here");
    mkdirSync(folder);
    await world.forward(JSON.stringify(event), {}, [], folder);
    expect(open(world.spool()[0])._meta.workspace_id).toBe("here");
  });

  testWith("linux")("counts from boot, on the clock that nobody can set", async () => {
    const uptime = () => Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1e6;
    const before = uptime();
    const meta = await metaOf({});
    expect(meta.seq).toBeWithin(before, uptime() + 1);
    expect(meta.boot).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
    expect(meta.host).toBe(`${meta.boot}/${readlinkSync("/proc/self/ns/pid")}`);
  });

  testWith("linux")("knows the agent's process by CLAUDE_PID, and which one of that number", async () => {
    const meta = await metaOf({ CLAUDE_PID: String(process.pid) });
    const stat = readFileSync(`/proc/${process.pid}/stat`, "utf8");
    expect(meta.pid).toBe(process.pid);
    expect(meta.procStart).toBe(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  });

  testWith("linux")("finds it behind the shell where CLAUDE_PID is missing", async () => {
    symlinkSync(realpathSync("/bin/sh"), world.inHome("claude"));
    const inner = `sh -c '"${beckonHook.join('" "')}"; true'; true`;
    const agent = start([world.inHome("claude"), "-c", inner], environment(world.home));
    agent.stdin.write(JSON.stringify(event));
    agent.stdin.end();
    expectSilence(await finish(agent, 0));
    expect(open(world.spool()[0])._meta.pid).toBe(agent.pid);
  });

  test("does not take the Claude around another agent for that agent", async () => {
    const claude = { CLAUDE_PID: "1234567", CLAUDE_CODE_SESSION_ATTENDED: "1" };
    const meta = await metaOf(claude, ["codex"]);
    expect(meta.pid).not.toBe(1234567);
    expect(meta.attended).toBeNull();
  });

  test("knows whether a person sits in front of it", async () => {
    expect((await metaOf({ CLAUDE_CODE_SESSION_ATTENDED: "1" })).attended).toBe(true);
    expect((await metaOf({ CLAUDE_CODE_SESSION_ATTENDED: "0" })).attended).toBe(false);
    expect((await metaOf({ CLAUDE_CODE_ENTRYPOINT: "sdk-cli" })).attended).toBe(false);
    expect((await metaOf({ CLAUDE_CODE_ENTRYPOINT: "cli" })).attended).toBeNull();
  });

  test("carries the terminal's variables and no other", async () => {
    const terminal = { TMUX: "/tmp/tmux-0/default,45,0", TMUX_PANE: "%3", TERM_SESSION_ID: "w0t0p0" };
    const secrets = {
      ANTHROPIC_API_KEY: "hush",
      WARP_API_KEY: "hush",
      KONSOLE_DBUS_ACTIVATION_COOKIE: "hush",
    };
    const meta = await metaOf({ ...terminal, ...secrets, DISPLAY: "x".repeat(limits.maxEnvLength + 1) });
    expect(meta.env).toEqual(terminal);
    expect(meta.terminal_session_id).toBe("w0t0p0");
    expect(world.spool().join()).not.toContain("hush");
  });

  test("reads the terminal's name out of its device number", () => {
    expect(formatTty(0x8800)).toBe("/dev/pts/0");
    expect(formatTty(0x8811)).toBe("/dev/pts/17");
    expect(formatTty(0x108801)).toBe("/dev/pts/257");
    expect(formatTty(0x0401)).toBe("/dev/tty1");
    expect(formatTty(0x0440)).toBe("/dev/ttyS0");
    expect(formatTty(0)).toBeNull();
  });
});
