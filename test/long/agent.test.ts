/** More of what happens between a person and the real Claude Code CLI. */
import { afterAll, expect } from "bun:test";
import { testWithCli } from "../agent/cli.ts";
import { formServer } from "../agent/form-server.ts";
import { live, summary } from "../agent/live.ts";
import { claude, permission } from "../agent/words.ts";

const test = await testWithCli();
const timeoutMs = 60_000;

afterAll(() => console.log(summary()));

test(
  "a permission approved after the CLI's reminder has come",
  () =>
    live("approved-late", ["permission Bash: touch x"], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("DO bash touch x");
      await world.shows(permission);
      await world.hears("Notification");
      await world.linger();
      await world.key("Enter");
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "a command that is always allowed",
  () =>
    live("always", ["permission Bash: hostid"], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("DO bash hostid");
      await world.shows(permission);
      await world.linger();
      await world.key("2");
      await world.is("idle");
      await world.linger();
      await world.type("DO bash hostid");
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "two subagents that ask at once, each approved",
  () =>
    live("two-subagents", ["permission Bash: touch a", "permission Bash: touch b"], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("DO agents DO bash touch a ;; DO bash touch b");
      await world.hears("Stop");
      await world.shows(permission);
      await world.linger();
      await world.key("Enter");
      await world.hears("SubagentStop");
      await world.shows(permission);
      await world.linger();
      await world.key("Enter");
      await world.hears("Stop");
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "a turn broken off with Esc, and the next prompt",
  () =>
    live("esc", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
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
    }),
  timeoutMs,
);

test(
  "a plan dismissed, and one approved",
  () =>
    live("plan", Array(2).fill("plan ExitPlanMode: # A plan 1. Do this 2. Do that"), async (world) => {
      await world.type("claude --permission-mode plan");
      await world.is("idle");
      await world.type("DO plan");
      await world.is("waiting");
      await world.shows(/Would you like to proceed/);
      await world.linger();
      await world.key("Escape");
      await world.is("idle");
      await world.linger();
      await world.key("C-u");
      await world.type("DO plan");
      await world.is("waiting");
      await world.shows(/Would you like to proceed/);
      await world.linger();
      await world.key("Enter");
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "/clear ends the session and begins another",
  () =>
    live("clear", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
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
    }),
  timeoutMs,
);

test(
  "a session left and continued is one session",
  () =>
    live("continue", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("SAY one");
      await world.is("idle");
      await world.linger();
      await world.type("/exit");
      await world.is("gone");
      await world.linger();
      await world.type(`${claude} --continue`);
      await world.is("idle");
      await world.type("SAY two");
      await world.is("idle");
      await world.linger();
      expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([{ lastPrompt: "SAY two" }]);
    }),
  timeoutMs,
);

test(
  "/compact",
  () =>
    live("compact", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("SAY one");
      await world.is("idle");
      await world.linger();
      await world.type("/compact");
      await world.hears("PostCompact");
      await world.is("idle");
      await world.linger();
      await world.type("SAY two");
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "a turn that ends with an error of the API",
  () =>
    live("api-error", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
      for (const status of [400, 401, 429, 500]) {
        await world.type(`DO error ${status}`);
        await world.hears("StopFailure");
        await world.is("idle");
        await world.linger();
      }
      expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([
        { status: { kind: "idle", detail: "server_error" } },
      ]);
    }),
  timeoutMs,
);

test(
  "-p, with a tool that nobody is there to allow",
  () =>
    live("print", [], async (world) => {
      await world.type(`${claude} -p 'DO bash touch x'; echo over-1`);
      await world.shows(/^over-1/m);
      await world.linger();
      await world.type(`${claude} -p 'DO slow 3'; echo over-2`);
      await world.shows(/^over-2/m);
    }),
  timeoutMs,
);

test(
  "a shell in the background does not keep the session busy",
  () =>
    live("background", [], async (world) => {
      await world.type(`${claude} --allowedTools Bash`);
      await world.is("idle");
      await world.type("DO background sleep 5");
      await world.is("shell");
      await world.linger();
      await world.hears("Stop", 2);
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "a prompt typed while the turn runs comes after it",
  () =>
    live("queued", [], async (world) => {
      await world.type(claude);
      await world.is("idle");
      await world.type("DO slow 3");
      await world.is("busy");
      await world.type("DO slow 3");
      await world.hears("Stop", 2);
      await world.is("idle");
    }),
  timeoutMs,
);

test(
  "the idle reminder is no question",
  () =>
    live(
      "idle-reminder",
      [],
      async (world) => {
        await world.type(claude);
        await world.is("idle");
        await world.type("SAY one");
        await world.is("idle");
        await world.hears("Notification");
        await world.linger();
        expect(world.recorder.shown.at(-1)?.sessions).toMatchObject([
          { activityPhase: "waiting_question", status: { kind: "idle" }, asks: [{ kind: "idle" }] },
        ]);
      },
      { claudeJson: { messageIdleNotifThresholdMs: 2_000 } },
    ),
  timeoutMs,
);

test(
  "a form of an MCP server, filled in and dismissed",
  () =>
    live(
      "form",
      Array(2).fill("elicitation null: What is your name?"),
      async (world) => {
        await world.type(claude);
        await world.is("idle");
        await world.finds("form-server.ready");
        await world.type("DO form");
        await world.is("waiting");
        await world.shows(/What is your name/);
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
      {
        files: { "bin/bun": process.execPath, "form-server.ts": formServer },
        claudeJson: {
          mcpServers: { form: { type: "stdio", command: "bun", args: ["/home/dev/form-server.ts"] } },
        },
        settings: { permissions: { allow: ["mcp__form__ask"] } },
      },
    ),
  timeoutMs,
);
