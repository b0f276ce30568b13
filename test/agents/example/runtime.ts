/** The made-up agent while the app runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentRuntime, AgentWatcher, WatchContext } from "../../../src/agents/agent.ts";
import { type Change, createInternalEvent } from "../../../src/core/session/event.ts";
import { createDecision } from "./decide.ts";
import { createRegistrationCheck, exampleFolder, isPresent } from "./folder.ts";
import { exampleForwarding } from "./forwarding.ts";

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export const exampleRuntime: AgentRuntime = {
  translate({ payload, meta }, stamp) {
    const [sessionId, name] = [textOf(payload.session), textOf(payload.type)];
    if (sessionId === null || name === null) return null;
    const event = createInternalEvent(
      stamp.id,
      stamp,
      { agent: "example", sessionId, name, cwd: textOf(payload.folder), place: meta.place },
      createChange(name, payload),
    );
    return { ...event, attended: meta.attended, project: meta.workspace, payloadKey: stamp.key };
  },
  explainRefusal: () => "the payload needs a session and a type",
  stripToolOutput: (text) => text,
  identifierFields: new Set(exampleForwarding.identifierFields),
  dedupeKey: ({ event }) => textOf(event),
  dangers: null,
  answering: {
    findSessionId: ({ session }) => textOf(session),
    isAnswerable: ({ type }) => type === "permission.asked",
    describe({ type, command }) {
      if (type !== "permission.asked" || typeof command !== "string") return null;
      return {
        kind: "permission",
        tool: "run",
        heading: "Run a command",
        startsWithSubject: true,
        lines: [command],
        isWhole: true,
        dangers: [],
        always: [],
        questions: [],
      };
    },
    decide: createDecision,
    autoAllow: () => null,
  },
  watch: watchFinished,
  findTranscript: async () => null,
  isPresent,
  createRegistrationCheck,
};

function createChange(name: string, { command }: Readonly<Record<string, unknown>>): Change {
  switch (name) {
    case "session.started":
      return { kind: "session-start", source: "startup", model: null };
    case "turn.started":
      return { kind: "prompt", text: "", byMachine: false };
    case "permission.asked":
      return {
        kind: "ask",
        ask: "permission",
        tool: "run",
        inputKey: null,
        summary: textOf(command) ?? "",
        options: [],
      };
    case "turn.finished":
      return { kind: "turn-end", error: null, lastResponse: null, background: null };
    case "session.ended":
      return { kind: "session-end", reason: null };
    default:
      return { kind: "no-change" };
  }
}

/** The agent writes the id of a session into `finished` when its turn ends. */
function watchFinished({ env, clock, dispatch }: WatchContext): AgentWatcher {
  const path = join(exampleFolder(env), "finished");
  let count = 0;
  const check: AgentWatcher["check"] = (sessions) => {
    const finished = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    for (const { agent, sessionId, turn } of sessions) {
      if (!turn.running || !finished.includes(sessionId)) continue;
      const change = { kind: "turn-end", error: null, lastResponse: null, background: null } as const;
      dispatch(createInternalEvent(`finished-${++count}`, clock(), { agent, sessionId }, change));
    }
  };
  return { scan: check, check, follow: () => {}, continuesElsewhere: () => false, stop: () => {} };
}
