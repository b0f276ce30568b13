/** More of what happens between a person and the real Claude Code CLI. */
import { afterAll, expect } from "bun:test";
import { formIsReady, withForm } from "../agent/form.ts";
import { manual } from "../agent/sandbox.ts";
import { dialog, scenariosWithCli, summary } from "../agent/scenario.ts";

const { scenario } = scenariosWithCli();

afterAll(() => console.log(summary()));

scenario(
  "a permission approved after the CLI's reminder has come",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO bash touch x");
    await sandbox.shows(dialog.permission);
    await sandbox.hears("Notification");
    await sandbox.linger();
    await sandbox.key("Enter");
    await sandbox.is("idle");
  },
);

scenario("a command that is always allowed", ["permission Bash: hostid"], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("DO bash hostid");
  await sandbox.shows(/2\. Yes, and don.t ask again/);
  await sandbox.linger();
  await sandbox.key("2");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("DO bash hostid");
  await sandbox.is("idle");
});

scenario(
  "two subagents that ask at once, each approved",
  ["permission Bash: touch a", "permission Bash: touch b"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO agents DO bash touch a ;; DO bash touch b");
    await sandbox.hears("PermissionRequest", 2);
    await sandbox.shows(dialog.permission);
    await sandbox.linger();
    await sandbox.key("Enter");
    await sandbox.hears("SubagentStop");
    await sandbox.shows(dialog.permission);
    await sandbox.linger();
    await sandbox.key("Enter");
    await sandbox.hears("Stop");
    await sandbox.is("idle");
  },
);

scenario("a turn broken off with Esc, and the next prompt", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("DO slow 20");
  await sandbox.is("busy");
  await sandbox.linger();
  await sandbox.key("Escape");
  await sandbox.is("idle");
  await sandbox.linger();
  // The broken prompt comes back to be edited.
  await sandbox.key("C-u");
  await sandbox.type("SAY next");
  await sandbox.is("idle");
});

scenario(
  "a command that needs no permission, broken off with Esc, and the next prompt",
  [],
  async (sandbox) => {
    await sandbox.startCli();
    // A bare sleep the CLI refuses.
    await sandbox.type("DO bash tail -f /dev/null");
    await sandbox.hears("PreToolUse");
    await sandbox.is("busy");
    await sandbox.linger();
    await sandbox.key("Escape");
    await sandbox.is("idle");
    await sandbox.linger();
    await sandbox.key("C-u");
    await sandbox.type("SAY next");
    await sandbox.is("idle");
  },
  { settings: { permissions: { allow: ["Bash"] } } },
);

scenario(
  "a plan dismissed, and one approved",
  Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"),
  async (sandbox) => {
    await sandbox.startCli("--permission-mode plan");
    for (const key of ["Escape", "Enter"]) {
      await sandbox.type("DO plan");
      await sandbox.is("waiting");
      await sandbox.shows(dialog.plan);
      await sandbox.linger();
      await sandbox.key(key);
      await sandbox.is("idle");
      await sandbox.linger();
      await sandbox.key("C-u");
    }
  },
);

scenario("/clear ends the session and begins another; /exit ends that", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("SAY one");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("/clear");
  await sandbox.hears("SessionStart");
  await sandbox.linger();
  await sandbox.type("SAY two");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("/exit");
  await sandbox.is("gone");
});

scenario("a session left and continued is one session", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("SAY one");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("/exit");
  await sandbox.is("gone");
  await sandbox.linger();
  await sandbox.startCli(`${manual} --continue`);
  await sandbox.type("SAY two");
  await sandbox.is("idle");
  await sandbox.linger();
  const last = sandbox.recorder.shown.at(-1)?.sessions;
  expect(last).toMatchObject([{ lastPrompt: "SAY two", turnCount: 2 }]);
  expect(last).toHaveLength(1);
});

scenario("/compact", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("SAY one");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("/compact");
  await sandbox.hears("PostCompact");
  await sandbox.is("idle");
  await sandbox.linger();
  await sandbox.type("SAY two");
  await sandbox.is("idle");
});

scenario("a turn that ends with an error of the API", [], async (sandbox) => {
  await sandbox.startCli();
  for (const code of [401, 429, 500]) {
    await sandbox.type(`DO error ${code}`);
    await sandbox.hears("StopFailure");
    await sandbox.is("idle");
    await sandbox.linger();
    const detail = expect.stringContaining(`${code}`);
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([{ status: { kind: "idle", detail } }]);
  }
});

scenario("-p, with a tool that nobody is there to allow", [], async (sandbox) => {
  await sandbox.type(`claude ${manual} -p 'DO bash touch x'; echo over-1`);
  await sandbox.shows(/^over-1/m);
  await sandbox.linger();
  await sandbox.type(`claude ${manual} -p 'DO slow 3'; echo over-2`);
  await sandbox.shows(/^over-2/m);
});

scenario("a shell in the background does not keep the session busy", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("DO background sleep 5");
  await sandbox.is("shell");
  await sandbox.linger();
  await sandbox.hears("Stop", 2);
  await sandbox.is("idle");
});

scenario("a prompt typed while the turn runs comes after it", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("DO slow 3");
  await sandbox.is("busy");
  await sandbox.type("DO slow 3");
  await sandbox.hears("Stop", 2);
  await sandbox.is("idle");
});

scenario(
  "the idle reminder is no question",
  [],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("SAY one");
    await sandbox.hears("Notification");
    await sandbox.linger();
    expect(sandbox.recorder.shown.at(-1)?.sessions).toMatchObject([
      { activityPhase: "waiting_question", status: { kind: "idle" }, asks: [{ kind: "idle" }] },
    ]);
  },
  { claudeJson: { messageIdleNotifThresholdMs: 2_000 } },
);

scenario(
  "a form of an MCP server, filled in and dismissed",
  Array(2).fill("elicitation null: What is your name?"),
  async (sandbox) => {
    await sandbox.startCli();
    await formIsReady(sandbox);
    await sandbox.type("DO form");
    await sandbox.is("waiting");
    await sandbox.shows(dialog.form);
    await sandbox.linger();
    await sandbox.type("Bob");
    await sandbox.key("Down");
    await sandbox.key("Enter");
    await sandbox.is("idle");
    await sandbox.linger();
    await sandbox.type("DO form");
    await sandbox.is("waiting");
    await sandbox.linger();
    await sandbox.key("Escape");
    await sandbox.is("idle");
  },
  withForm,
);
