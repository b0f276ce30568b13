/** Killed or told to stop, and started again: also after a reboot. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClock } from "../../src/system/clock.ts";
import { asks, bash, createWorld, proj, prompt, until, type World } from "../world.ts";

let world: World;
beforeEach(() => {
  world = createWorld();
});
afterEach(() => world.destroy());

const stop = (session_id: string, more = {}) => ({ session_id, hook_event_name: "Stop", ...proj, ...more });
const end = (session_id: string) => ({ session_id, hook_event_name: "SessionEnd", reason: "other" });

/** One that asks, one that works with a subagent, one that is done, one that has ended. */
async function aDay() {
  const agent = world.agent();
  const { pid, procStart } = agent;
  const here = { pid, procStart, host: createClock()().host, tty: "/dev/pts/1", env: { TERM: "xterm" } };
  const sends = [
    prompt("asks"),
    { session_id: "asks", hook_event_name: "PreToolUse", tool_use_id: "t1", ...bash, ...proj },
    asks("asks"),
    prompt("works"),
    { session_id: "works", hook_event_name: "SubagentStart", agent_id: "a1", agent_type: "Explore", ...proj },
    prompt("done"),
    stop("done", { last_assistant_message: "Done." }),
    prompt("over"),
    end("over"),
  ];
  const startedAt = Date.now() - 1_000;
  for (const [n, event] of sends.entries()) {
    expect((await world.hook(event, { at: startedAt + n * 100, ...here })).status).toBe(200);
  }
  return agent;
}

describe("after a start", () => {
  test("every session is as before if beckon was stopped", async () => {
    const first = await world.startProcess();
    await aDay();
    const before = await world.sessions();
    expect(before.map((session) => session.activityPhase)).toEqual([
      "waiting_permission",
      "busy",
      "interactable",
      null,
    ]);
    first.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(readdirSync(world.places.state)).not.toContain("endpoint.json");
    await world.startProcess();
    expect(await world.sessions()).toEqual(before);
  });

  test("every session is as before if beckon was killed: from the journal alone, and with a snapshot", async () => {
    const first = await world.startProcess();
    await aDay();
    const before = await world.sessions();
    first.kill("SIGKILL");
    await first.exited;
    expect(readdirSync(world.places.state)).not.toContain("snapshot.json");

    const second = await world.startProcess();
    expect(await world.sessions()).toEqual(before);
    await world.hook(prompt("later"));
    await until(() => readdirSync(world.places.state).includes("snapshot.json"), 3_000);
    await world.hook(prompt("latest"));
    const then = await world.sessions();
    second.kill("SIGKILL");
    await second.exited;

    await world.startProcess();
    expect(await world.sessions()).toEqual(then);
    await world.hook({ session_id: "asks", hook_event_name: "PostToolUse", tool_use_id: "t1", ...bash });
    expect(await world.session("asks")).toMatchObject({ activityPhase: "busy", asks: [] });
  });

  test("after a reboot the order holds, dead processes are gone, and idle sessions stay idle", async () => {
    const app = await world.start();
    const { child } = await aDay();
    await world.hook({ ...prompt("remote"), prompt: "no pid" });
    await app.stop();
    child.kill("SIGKILL");
    await child.exited;
    reboot(60 * 60_000);
    await world.start();
    const seen = Object.fromEntries(
      (await world.sessions()).map(({ sessionId, state }) => [sessionId, state]),
    );
    expect(seen).toEqual({
      asks: "completed",
      works: "completed",
      done: "completed",
      over: "completed",
      remote: "active",
    });
    await world.hook(stop("remote"));
    expect(await world.session("remote")).toMatchObject({
      activityPhase: "interactable",
      lastPrompt: "no pid",
    });
  });

  test("sessions that ended long ago are removed", async () => {
    const app = await world.start();
    await world.hook(end("old"), { at: Date.now() - 25 * 60 * 60_000 });
    await world.hook(end("new"));
    await app.stop();
    await world.start();
    expect((await world.sessions()).map((session) => session.sessionId)).toEqual(["new"]);
  });

  test("the spool is read, in order, before the first request is answered", async () => {
    const app = await world.start();
    await app.stop();
    const line = (event: object, n: number) =>
      JSON.stringify({
        provider: "claude",
        _meta: { id: `spooled-${n}`, at: Date.now() + n },
        payload: event,
      });
    const lines = [
      prompt("s"),
      stop("s", { last_assistant_message: "Done." }),
      prompt("s", { prompt: "more" }),
    ].map(line);
    writeFileSync(world.places.spool, `${lines.join("\n")}\n`);
    await world.start();
    expect(await world.session("s")).toMatchObject({
      activityPhase: "busy",
      lastPrompt: "more",
      turnCount: 2,
      lastResponse: "Done.",
    });
  });

  test("an event on its way during a snapshot is put in its place after a kill", async () => {
    const first = await world.startProcess();
    const at = Date.now() - 1_000;
    await world.hook(prompt("s", { prompt: "one" }), { at });
    await world.hook(prompt("s", { prompt: "three" }), { at: at + 200 });
    await until(() => readdirSync(world.places.state).includes("snapshot.json"), 3_000);
    first.kill("SIGKILL");
    await first.exited;
    const _meta = { id: "late", at: at + 100 };
    const late = { provider: "claude", _meta, payload: prompt("s", { prompt: "two" }) };
    writeFileSync(world.places.spool, `${JSON.stringify(late)}\n`);
    await world.startProcess();
    expect(await world.session("s")).toMatchObject({ turnCount: 3, lastPrompt: "three" });
  });

  test("beckon starts with a damaged snapshot", async () => {
    const app = await world.start();
    await world.hook(prompt("good"));
    await app.stop();
    const file = JSON.parse(readFileSync(world.places.snapshot, "utf8"));
    file.sessions.push({ sessionId: "bad" }, null);
    writeFileSync(world.places.snapshot, JSON.stringify(file));
    await world.start();
    expect((await world.sessions()).map((session) => session.sessionId)).toEqual(["good"]);
    expect(world.read(world.places.log)).toContain("dropped 2 damaged sessions of the snapshot");
  });
});

/** Everything that was kept, as if it were of an earlier boot and that much older. */
function reboot(ms: number): void {
  const { boot = "", host } = createClock()() as { boot: string; host: string | null };
  const earlier = (text: string) => text.replaceAll(boot, "an-earlier-boot");
  const file = JSON.parse(earlier(readFileSync(world.places.snapshot, "utf8")));
  expect(host).toContain(boot);
  writeFileSync(world.places.snapshot, JSON.stringify({ ...file, savedAt: file.savedAt - ms }));
  for (const name of readdirSync(world.places.journal)) truncateSync(join(world.places.journal, name));
}
