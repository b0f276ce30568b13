/** More of what happens between a person and the real Claude Code CLI. */
import { afterAll, expect } from "bun:test";
import { formIsReady, withForm } from "../agent/form.ts";
import { dialog, scenariosWithCli, summary } from "../agent/scenario.ts";
import { manual } from "../agent/world.ts";

const { scenario } = scenariosWithCli();

afterAll(() => console.log(summary()));

scenario(
  "a permission approved after the CLI's reminder has come",
  ["permission Bash: touch x"],
  async (world) => {
    await world.startCli();
    await world.type("DO bash touch x");
    await world.shows(dialog.permission);
    await world.hears("Notification");
    await world.linger();
    await world.key("Enter");
    await world.is("idle");
  },
);

scenario("a command that is always allowed", ["permission Bash: hostid"], async (world) => {
  await world.startCli();
  await world.type("DO bash hostid");
  await world.shows(/2\. Yes, and don.t ask again/);
  await world.linger();
  await world.key("2");
  await world.is("idle");
  await world.linger();
  await world.type("DO bash hostid");
  await world.is("idle");
});

scenario(
  "two subagents that ask at once, each approved",
  ["permission Bash: touch a", "permission Bash: touch b"],
  async (world) => {
    await world.startCli();
    await world.type("DO agents DO bash touch a ;; DO bash touch b");
    await world.hears("PermissionRequest", 2);
    await world.shows(dialog.permission);
    await world.linger();
    await world.key("Enter");
    await world.hears("SubagentStop");
    await world.shows(dialog.permission);
    await world.linger();
    await world.key("Enter");
    await world.hears("Stop");
    await world.is("idle");
  },
);

scenario("a turn broken off with Esc, and the next prompt", [], async (world) => {
  await world.startCli();
  await world.type("DO slow 20");
  await world.is("busy");
  await world.linger();
  await world.key("Escape");
  await world.is("idle");
  await world.linger();
  // The broken prompt comes back to be edited.
  await world.key("C-u");
  await world.type("SAY next");
  await world.is("idle");
});

scenario(
  "a command that needs no permission, broken off with Esc, and the next prompt",
  [],
  async (world) => {
    await world.startCli();
    // A bare sleep the CLI refuses.
    await world.type("DO bash tail -f /dev/null");
    await world.hears("PreToolUse");
    await world.is("busy");
    await world.linger();
    await world.key("Escape");
    await world.is("idle");
    await world.linger();
    await world.key("C-u");
    await world.type("SAY next");
    await world.is("idle");
  },
  { settings: { permissions: { allow: ["Bash"] } } },
);

scenario(
  "a plan dismissed, and one approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (world) => {
    await world.startCli("--permission-mode plan");
    for (const key of ["Escape", "Enter"]) {
      await world.type("DO plan");
      await world.is("waiting");
      await world.shows(dialog.plan);
      await world.linger();
      await world.key(key);
      await world.is("idle");
      await world.linger();
      await world.key("C-u");
    }
  },
);

scenario("/clear ends the session and begins another; /exit ends that", [], async (world) => {
  await world.startCli();
  await world.type("SAY one");
  await world.is("idle");
  await world.linger();
  await world.type("/clear");
  await world.hears("SessionStart");
  await world.linger();
  await world.type("SAY two");
  await world.is("idle");
  await world.linger();
  await world.type("/exit");
  await world.is("gone");
});

scenario("a session left and continued is one session", [], async (world) => {
  await world.startCli();
  await world.type("SAY one");
  await world.is("idle");
  await world.linger();
  await world.type("/exit");
  await world.is("gone");
  await world.linger();
  await world.startCli(`${manual} --continue`);
  await world.type("SAY two");
  await world.is("idle");
  await world.linger();
  const last = world.recorder.shown.at(-1)?.sessions;
  expect(last).toMatchObject([{ lastPrompt: "SAY two", turnCount: 2 }]);
  expect(last).toHaveLength(1);
});

scenario("/compact", [], async (world) => {
  await world.startCli();
  await world.type("SAY one");
  await world.is("idle");
  await world.linger();
  await world.type("/compact");
  await world.hears("PostCompact");
  await world.is("idle");
  await world.linger();
  await world.type("SAY two");
  await world.is("idle");
});

scenario("a turn that ends with an error of the API", [], async (world) => {
  await world.startCli();
  for (const code of [401, 429, 500]) {
    await world.type(`DO error ${code}`);
    await world.hears("StopFailure");
    await world.is("idle");
    await world.linger();
    const detail = expect.stringContaining(`${code}`);
    expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([{ status: { kind: "idle", detail } }]);
  }
});

scenario("-p, with a tool that nobody is there to allow", [], async (world) => {
  await world.type(`claude ${manual} -p 'DO bash touch x'; echo over-1`);
  await world.shows(/^over-1/m);
  await world.linger();
  await world.type(`claude ${manual} -p 'DO slow 3'; echo over-2`);
  await world.shows(/^over-2/m);
});

scenario("a shell in the background does not keep the session busy", [], async (world) => {
  await world.startCli();
  await world.type("DO background sleep 5");
  await world.is("shell");
  await world.linger();
  await world.hears("Stop", 2);
  await world.is("idle");
});

scenario("a prompt typed while the turn runs comes after it", [], async (world) => {
  await world.startCli();
  await world.type("DO slow 3");
  await world.is("busy");
  await world.type("DO slow 3");
  await world.hears("Stop", 2);
  await world.is("idle");
});

scenario(
  "the idle reminder is no question",
  [],
  async (world) => {
    await world.startCli();
    await world.type("SAY one");
    await world.hears("Notification");
    await world.linger();
    expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([
      { activityPhase: "waiting_question", status: { kind: "idle" }, asks: [{ kind: "idle" }] },
    ]);
  },
  { claudeJson: { messageIdleNotifThresholdMs: 2_000 } },
);

scenario(
  "a form of an MCP server, filled in and dismissed",
  Array(2).fill("elicitation null: What is your name?"),
  async (world) => {
    await world.startCli();
    await formIsReady(world);
    await world.type("DO form");
    await world.is("waiting");
    await world.shows(dialog.form);
    await world.linger();
    await world.type("Bob");
    await world.key("Down");
    await world.key("Enter");
    await world.is("idle");
    await world.linger();
    await world.type("DO form");
    await world.is("waiting");
    await world.linger();
    await world.key("Escape");
    await world.is("idle");
  },
  withForm,
);
