/**
 * What a request can do with a session: POST /api/sessions/:id/{focus,answer,send,trust,mute,snooze,dismiss,transcript}; and with the alerts of
 * all: POST /api/quiet.
 */
import { type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type AnswerFront, type AnswerStep, createStep } from "../core/answers/policy.ts";
import { quietModes } from "../core/config/user-action.ts";
import type { JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { Answer } from "../core/session/ask-details.ts";
import type { ClockReading } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { sessionKeyOf } from "../core/session/session-ref.ts";
import { formatFocusOutcome } from "../core/view/focus-text.ts";
import type { PreferenceKeeper } from "../preferences/index.ts";
import type { Store } from "../state/store.ts";
import type { AllRequests } from "./machines.ts";
import type { Navigation } from "./navigation.ts";
import type { AppPrompts } from "./prompts.ts";
import type { AppRules } from "./rules.ts";

export interface SessionActionDeps {
  readonly store: Pick<Store, "find">;
  readonly clock: () => ClockReading;
  readonly preferences: Pick<PreferenceKeeper, "set">;
  readonly navigation: Navigation;
  readonly requests: Pick<AllRequests, "answer">;
  readonly prompts: Pick<AppPrompts, "send">;
  readonly rules: Pick<AppRules, "trust">;
}

const defaultSnoozeMinutes = 15;
/** In place of an id: the session that has waited longest. */
const nextSession = "--next";

/** Resolves with the result; with a text if the body is invalid; with null if there is no such session or action. */
export async function runSessionAction(
  deps: SessionActionDeps,
  name: string,
  action: string,
  body: JsonRecord,
): Promise<object | string | null> {
  const session = findSession(deps, name);
  if (!session) return null;
  const { preferences, navigation } = deps;
  const key = sessionKeyOf(session);
  switch (action) {
    case "focus": {
      const outcome = await navigation.focus(session);
      const { title, lines } = formatFocusOutcome(outcome, session);
      return { ...outcome, says: `${title}. ${lines.join(" ")}` };
    }
    case "answer":
      return answer(deps.requests, session, body);
    case "send":
      return deps.prompts.send(session, body, readClient(body.by));
    case "trust":
      return deps.rules.trust(session, body);
    case "mute":
      if (body.on !== undefined && typeof body.on !== "boolean") return "on must be true or false";
      preferences.set({ do: "mute", session: key, on: body.on !== false });
      return { ok: true };
    case "snooze": {
      const { minutes = defaultSnoozeMinutes } = body;
      if (typeof minutes !== "number") return "minutes must be a number; 0 ends the snooze";
      preferences.set({ do: "snooze", session: key, minutes: minutes > 0 ? minutes : null });
      return { ok: true };
    }
    case "dismiss":
      preferences.set({ do: "dismiss", session: key });
      return { ok: true };
    case "transcript": {
      const problem = await navigation.openTranscript(session);
      return problem === null ? { ok: true } : `the transcript could not be opened: ${problem}`;
    }
    default:
      return null;
  }
}

function findSession({ store, clock, navigation }: SessionActionDeps, name: string): Session | null {
  return name === nextSession ? navigation.next() : store.find(name, clock());
}

/** Names a client may give itself, and what the log calls it. They grant nothing. */
const clients: ReadonlyMap<unknown, { readonly front: AnswerFront; readonly by: string }> = new Map([
  ["command line", { front: "command line", by: "command line" }],
  ["list", { front: "list", by: "command line" }],
  ["notification", { front: "notification", by: "notification" }],
  ["menu", { front: "menu", by: "menu" }],
  ["tray", { front: "menu", by: "menu" }],
  ["page", { front: "page", by: "page" }],
]);

/** What the log calls a client. */
const readClient = (by: unknown): string => clients.get(by)?.by ?? "API";

const Shown = Type.Object({ whole: Type.Boolean(), ms: Type.Union([Type.Null(), Type.Number()]) });

/** What the client did. One that does not report what it has shown is judged like any script, whatever its name. */
function readStep({ by, confirmed, shown }: JsonRecord): AnswerStep {
  const client = clients.get(by);
  const isConfirmed = confirmed === true;
  return client && Value.Check(Shown, shown)
    ? { ...client, isWholeShown: shown.whole, shownMs: shown.ms, isConfirmed }
    : createStep("API", { by: client?.by ?? "API", isConfirmed });
}

async function answer(
  requests: SessionActionDeps["requests"],
  session: Session,
  body: JsonRecord,
): Promise<object | string> {
  const parsed = parseAnswer(body);
  if (typeof parsed === "string") return parsed;
  const { ask } = body;
  if (typeof ask !== "string" || ask === "")
    return "ask must be the answerId of an open ask, as GET /api/sessions lists it";
  return requests.answer(session, ask, parsed, readStep(body));
}

const AnswerText = Type.String({ maxLength: limits.maxAnswerLength });
const listOf = (item: TSchema) => Type.Array(item, { minItems: 1, maxItems: limits.maxOptions });

const answerFields: Readonly<Record<Answer["do"], { readonly fields: TSchema; readonly error: string }>> = {
  allow: { fields: Type.Object({}), error: "" },
  always: {
    fields: Type.Object({ choice: Type.Optional(Type.Integer({ minimum: 0 })) }),
    error: "choice must be the place in the ask's list of what can always be allowed, from 0",
  },
  deny: {
    fields: Type.Object({ message: Type.Optional(Type.Union([Type.Null(), AnswerText])) }),
    error: `message must be a text of at most ${limits.maxAnswerLength} characters`,
  },
  reply: {
    fields: Type.Object({ replies: listOf(listOf(AnswerText)) }),
    error: 'replies must be a list with a list of texts for each question, like [["Red"], ["A", "B"]]',
  },
};

const isAnswerKind = (value: unknown): value is Answer["do"] =>
  typeof value === "string" && Object.hasOwn(answerFields, value);

/** Returns a text if the body is not a valid answer. */
function parseAnswer(body: JsonRecord): Answer | string {
  const kind = body.do;
  if (!isAnswerKind(kind)) return 'do must be "allow", "always", "deny" or "reply"';
  const { fields, error } = answerFields[kind];
  if (!Value.Check(fields, body)) return error;
  const {
    choice = 0,
    message = null,
    replies,
  } = body as { choice?: number; message?: string; replies: string[][] };
  switch (kind) {
    case "allow":
      return { do: kind };
    case "always":
      return { do: kind, choice };
    case "deny":
      return { do: kind, message: message?.trim() ? message : null };
    case "reply":
      return { do: kind, replies };
  }
}

/** Turns alerts off and on. Returns what holds now, or a text if the body is invalid. */
export function setQuiet(
  preferences: Pick<PreferenceKeeper, "set" | "quiet">,
  body: JsonRecord,
): object | string {
  const mode = quietModes.find((known) => known === body.mode);
  if (mode === undefined) return 'mode must be "hour", "tomorrow", "on" or "off"';
  preferences.set({ do: "quiet", mode });
  const quiet = preferences.quiet();
  return { ok: true, ...(quiet ? { quiet } : {}) };
}
