/** Who called a hook: recorded calls of real agents, and calls as they are documented where no agent could be run. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findCaller, listCallerVariables, unsupportedCaller } from "../../src/agents/callers.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { agents } from "../../src/agents/index.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import { parseJsonLines } from "../json-lines.ts";

interface Call {
  readonly caller: string;
  readonly called: string;
  readonly env: Readonly<Record<string, string>>;
  readonly payload: JsonRecord;
}

const fixtures = join(import.meta.dir, "../fixtures");
const readLines = (path: string): unknown[] => parseJsonLines(readFileSync(join(fixtures, path), "utf8"));

const stop = { session_id: "s", hook_event_name: "Stop" };

const calls: readonly Call[] = [
  ...(readLines("agents/callers.jsonl") as Call[]),
  // By their documentation: neither can be run here.
  { caller: "Cursor", called: "claude", env: {}, payload: { ...stop, cursor_version: "3.2.16" } },
  { caller: "Cursor", called: "claude", env: {}, payload: { ...stop, conversation_id: "c" } },
  { caller: "Antigravity CLI", called: "claude", env: {}, payload: { conversationId: "c", ...stop } },
  { caller: "Antigravity CLI", called: "gemini", env: {}, payload: { conversationId: "c", ...stop } },
  // opencode's plugin sets OPENCODE_PID to the process that it runs in.
  {
    ...{ caller: "Kilo", called: "opencode", payload: { type: "session.created", session: "ses_1" } },
    env: { KILO: "1", KILO_PID: "57", OPENCODE: "1", OPENCODE_PID: "57" },
  },
];

const idOf = (name: string): string => agents.find((row) => row.name === name)?.id ?? unsupportedCaller;

const pairs = [...new Set(calls.map(({ caller, called }) => `${caller}, called as ${called}`))];
describe("an agent that runs another agent's hook is known by each of its calls", () => {
  test.each(pairs)("%s", (pair) => {
    for (const { caller, called, env, payload } of calls) {
      if (`${caller}, called as ${called}` !== pair) continue;
      const said = { event: payload.hook_event_name, caller: findCaller(called, payload, env) };
      expect(said).toEqual({ event: payload.hook_event_name, caller: idOf(caller) });
      // What beckon-hook.sh sends is judged by the app.
      const body = { provider: called, _meta: { env }, payload };
      expect(openEnvelope(body, "claude", null)?.provider).toBe(idOf(caller));
    }
  });
});

describe("an agent that another agent started is not taken for it", () => {
  /** What it inherits from all of the others at once. */
  const inherited = Object.assign({}, ...calls.map(({ env }) => env), { KILO_PID: "57", OPENCODE_PID: "58" });

  test("each of Claude Code's recorded hooks is its own", () => {
    const recordings = readdirSync(join(fixtures, "recordings")).map((file) => `recordings/${file}`);
    const payloads = recordings
      .flatMap((path) => readLines(path) as { readonly payload?: JsonRecord }[])
      .flatMap(({ payload }) => (payload?.hook_event_name === undefined ? [] : [payload]));
    expect(payloads.length).toBeGreaterThan(500);
    for (const payload of payloads) expect(findCaller("claude", payload, inherited)).toBe("claude");
  });

  test("each of the other agents' own hooks is its own", () => {
    for (const id of ["codex", "copilot", "gemini", "opencode"]) {
      for (const file of readdirSync(join(fixtures, "agents", id))) {
        for (const row of readLines(`agents/${id}/${file}`) as { kind: string; payload: JsonRecord }[])
          if (row.kind === "hook") expect(findCaller(id, row.payload, inherited)).toBe(id);
      }
    }
  });
});

describe("an agent that beckon does not know is not taken for Claude Code", () => {
  const findForClaude = (more: JsonRecord) => findCaller("claude", { ...stop, ...more }, {});

  test("by fields that Claude Code never sends, or a transcript in another program's folder", () => {
    expect(findForClaude({ timestamp: "2026-11-16T18:45:06.484Z" })).toBe(unsupportedCaller);
    expect(findForClaude({ sessionId: "s" })).toBe(unsupportedCaller);
    expect(findForClaude({ transcript_path: "/home/dev/.newagent/sessions/s.jsonl" })).toBe(
      unsupportedCaller,
    );
    expect(findForClaude({ transcript_path: "C:\\Users\\d\\.newagent\\s.jsonl" })).toBe(unsupportedCaller);
  });

  test("a transcript in Claude Code's own folder, wherever that is, shows that it is Claude Code", () => {
    expect(findForClaude({ transcript_path: "/home/dev/.config/claude/projects/p/s.jsonl" })).toBe("claude");
    expect(
      findForClaude({ transcript_path: "C:\\Users\\d\\.claude\\projects\\p\\s.jsonl", timestamp: "t" }),
    ).toBe("claude");
    expect(findForClaude({})).toBe("claude");
  });
});

test("beckon-hook.sh sends every variable that shows who called", () => {
  const script = readFileSync(join(import.meta.dir, "../../hooks/beckon-hook.sh"), "utf8");
  expect(script).toContain(`\ncaller_variables='${listCallerVariables().join(" ")}'\n`);
});
