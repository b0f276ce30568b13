/** The real Claude Code CLI, its real hooks and its real status file: does beckon show what is so? */
import { afterAll, expect } from "bun:test";
import { testWithCli } from "./cli.ts";
import { inWorld, live, summary } from "./live.ts";
import { claude, permission, question } from "./words.ts";

const test = await testWithCli();

afterAll(() => console.log(summary()));

test("a permission answered No in the terminal, which no hook tells, and the next prompt", () =>
  live("permission-no", ["permission Bash: touch x"], async (world) => {
    await world.type(claude);
    await world.is("idle");
    await world.type("DO bash touch x");
    await world.is("waiting");
    await world.shows(permission);
    await world.linger();
    await world.key("4");
    await world.is("idle");
    await world.linger();
    await world.type("SAY next");
    await world.is("idle");
  }));

test("a question answered, and one dismissed with Esc", () =>
  live("question", Array(2).fill("question AskUserQuestion: Which colour?"), async (world) => {
    await world.type(claude);
    await world.is("idle");
    await world.type("DO ask");
    await world.shows(question);
    await world.linger();
    await world.key("Enter");
    await world.is("idle");
    await world.linger();
    await world.type("DO ask");
    await world.is("waiting");
    await world.linger();
    await world.key("Escape");
    await world.is("idle");
  }));

test("a CLI killed while it works is over", () =>
  live("killed", [], async (world) => {
    await world.type(claude);
    await world.is("idle");
    await world.type("DO slow 30");
    await world.is("busy");
    await world.linger();
    await world.killCli();
    await world.showsState("completed");
  }));

test("a subagent's permission when the main turn is over, approved", () =>
  live("subagent-permission", ["permission Bash: touch x"], async (world) => {
    await world.type(claude);
    await world.is("idle");
    await world.type("DO agent DO bash touch x");
    await world.hears("Stop");
    await world.is("waiting");
    await world.shows(permission);
    await world.linger();
    await world.key("Enter");
    await world.hears("Stop");
    await world.is("idle");
  }));

test("a session that ran before beckon, and without its hooks, is there at once", () =>
  inWorld("before-beckon", async (world) => {
    world.setHooks(false);
    await world.type(claude);
    await world.is("idle");
    await world.type("DO bash touch x");
    await world.shows(permission);
    const [session, ...more] = await world.beckon.start();
    expect(more).toEqual([]);
    expect(session).toMatchObject({ state: "active", activityPhase: "waiting_permission" });
  }));

test("with beckon down a turn runs undisturbed, and what happened is there when it starts; killed, it knows it again", () =>
  inWorld("beckon-down", async (world) => {
    await world.type(claude);
    await world.is("idle");
    await world.type("SAY hello");
    await world.is("idle");
    await world.type("DO bash touch x");
    await world.hears("PermissionRequest");
    await world.shows(permission);
    const [first] = await world.beckon.start();
    const asks = [{ kind: "permission", tool: "Bash", summary: "touch x" }];
    const known = { activityPhase: "waiting_permission", turnCount: 2, lastPrompt: "DO bash touch x", asks };
    expect(first).toMatchObject(known);
    await world.beckon.kill();
    const [second] = await world.beckon.start();
    expect(second).toMatchObject(known);
    expect(second?.asks).toEqual(first?.asks);
    await world.key("Enter");
    await world.is("idle");
    await world.showsState("active", "interactable");
  }));
