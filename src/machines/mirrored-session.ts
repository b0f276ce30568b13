/**
 * A session as another machine describes it, made into one of this machine's list: under the name that the user gave that machine,
 * on this machine's clocks, without anything that could be mistaken for this machine's own. Pure.
 */
import type { MaskedDetails } from "../answers/pending-request.ts";
import { isRecord, type JsonRecord } from "../core/json.ts";
import { limits } from "../core/limits.ts";
import type { AskDetails } from "../core/session/ask-details.ts";
import type { AgentEvent, Moment } from "../core/session/event.ts";
import { createMirroredRequest } from "../core/session/keys.ts";
import { isProbe } from "../core/session/probe.ts";
import { createSession, type Session } from "../core/session/session.ts";
import { toSingleLine } from "../core/text/text.ts";
import { markInvisible } from "../core/text/visible.ts";
import { parseSessions } from "../state/session-schema.ts";
import { hasPlausibleNumbers, shiftMoments } from "../state/shift-moments.ts";
import type { DescribedAsk, DescribedSession } from "./protocol.ts";

/** What is added to the moments of a machine to put them on this machine's clocks. */
export type ClockShift = Moment;

/** An ask of another machine that can be answered. */
export interface MirroredAsk {
  /** The owner's name for it. */
  readonly answerId: string;
  readonly details: AskDetails;
  readonly masked: MaskedDetails;
}

export interface MirroredSession {
  readonly session: Session;
  /** By the ask's `request` in `session`. */
  readonly answerable: ReadonlyMap<string, MirroredAsk>;
  /** About how much memory it takes, in characters. */
  readonly size: number;
}

/** Clocks that differ by less count as the same: the names of alerts contain times, and must not change with each link. */
const sameClockMs = 2_000;
/** What a machine says of its clock can have been on its way for this long, if one of the two has no time for it. */
const maxLateMs = 15_000;

/** `known` is that of an earlier link to that machine, and stays as long as it is about right. */
export function findClockShift(
  theirs: Moment,
  ours: Moment,
  known: Pick<ClockShift, "at"> | null,
): ClockShift {
  const at = ours.at - theirs.at;
  const isAbout = (usual: number, lateMs: number) => at > usual - sameClockMs && at < usual + lateMs;
  const t = ours.t - theirs.t;
  if (known && isAbout(known.at, maxLateMs)) return { at: known.at, t };
  // An earlier link may have been too slow to tell.
  return { at: isAbout(0, sameClockMs) ? 0 : Math.round(at), t };
}

/** null if it is not a valid session. `now` is this machine's. */
export function readDescribedSession(
  { session, answerable }: DescribedSession,
  machine: string,
  shift: ClockShift,
  now: Moment,
): MirroredSession | null {
  const texts = createTextReader();
  const [described] = parseSessions([
    texts.read({ ...pickKnownFields(session), ...ofOtherMachine, machine }),
  ]);
  if (!described || !isPlainId(described.agent) || isProbe(described)) return null;
  const shifted = shiftMoments(described, shift);
  const ids = [described.sessionId, ...described.asks.map(({ id }) => id)];
  if (ids.some((id) => !isShownAsItIs(id)) || described.sessionId !== session.sessionId) return null;
  if (!hasPlausibleNumbers(shifted, now)) return null;
  const { place } = shifted;
  const byId = new Map(answerable.map((ask) => [ask.id, ask]));
  const requests = new Map<string, MirroredAsk>();
  const asks = shifted.asks.slice(0, limits.maxOpenAsks).map((ask) => {
    const request = createMirroredRequest(machine, ask.request ?? ask.id);
    const found = byId.get(ask.id);
    if (found) requests.set(request, readAnswerable(found, texts));
    return { ...ask, request: ask.request === null && !found ? null : request };
  });
  return {
    session: {
      ...shifted,
      sharedFiles: shifted.sharedFiles.map((file) => ({ ...file, machine: null })),
      asks,
      children: shifted.children
        .slice(0, limits.maxChildren)
        .map((child) => ({ ...child, transcriptPath: null })),
      place: place && { ...place, local: false, env: keepVariables(place.env) },
    },
    answerable: requests,
    size: texts.size,
  };
}

/** What a session of another machine never has here: paths and commands of its own, and what only its machine needs. */
const ofOtherMachine = {
  unreachableSince: null,
  settled: true,
  tools: [],
  payloads: [],
  documents: [],
  edits: [],
  transcriptPath: null,
  attach: null,
} as const satisfies Partial<Session>;

const knownFields = Object.keys(createSession({ at: 0, t: 0 } as AgentEvent));

function pickKnownFields(session: JsonRecord): JsonRecord {
  const picked: Record<string, unknown> = {};
  for (const name of knownFields) if (Object.hasOwn(session, name)) picked[name] = session[name];
  return picked;
}

export const isPlainId = (agent: string): boolean => /^[a-z][a-z0-9-]{0,31}$/.test(agent);

/** An id that is sent back must be as it came. */
export const isShownAsItIs = (id: string): boolean =>
  id !== "" && id.length <= limits.maxIdLength && toSingleLine(id) === id;

function readAnswerable({ answerId, details, masked }: DescribedAsk, texts: TextReader): MirroredAsk {
  for (const { heading, lines } of [details, masked.details].filter((shown) => shown !== null))
    texts.size += [heading, ...lines].reduce((sum, text) => sum + text.length + textOverhead, 0);
  return {
    answerId,
    details: showInvisible(details),
    masked: { hasSecret: masked.hasSecret, details: masked.details && showInvisible(masked.details) },
  };
}

/** Its owner has done this, unless it lies. */
function showInvisible(details: DescribedAsk["details"]): AskDetails {
  const list = (texts: readonly string[]) => texts.map(markInvisible);
  return {
    ...details,
    tool: details.tool && markInvisible(details.tool),
    heading: markInvisible(details.heading),
    lines: list(details.lines),
    dangers: list(details.dangers),
    always: list(details.always),
    questions: details.questions.map(({ header, question, options, isMultiple }) => ({
      header: markInvisible(header),
      question: markInvisible(question),
      options: options.map(({ label, description }) => ({
        label: markInvisible(label),
        description: markInvisible(description),
      })),
      isMultiple,
    })),
  } as AskDetails;
}

const keepVariables = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([name]) => /^[A-Z_]\w*$/i.test(name))
      .slice(0, limits.maxEnv),
  );

const maxItems = 256;
const maxDepth = 6;
/** What a string takes besides its characters. */
const textOverhead = 32;
/** Texts of several lines. */
const longTexts: ReadonlySet<string> = new Set(["lastPrompt", "lastResponse"]);
const plainText = /^[\x20-\x7e]*$/;

interface TextReader {
  /** A copy of the value, with every text and list shortened, and no text that could hide or reorder another. */
  read(value: unknown, name?: string, depth?: number): unknown;
  /** Of what was read. */
  size: number;
}

function createTextReader(): TextReader {
  const reader: TextReader = {
    size: 0,
    read(value, name = "", depth = 0) {
      reader.size += textOverhead;
      if (typeof value === "string") {
        const text = cleanText(value.slice(0, limits.maxTextLength), name);
        reader.size += text.length;
        return text;
      }
      if (depth > maxDepth) return null;
      if (Array.isArray(value))
        return value.slice(0, maxItems).map((item) => reader.read(item, name, depth + 1));
      if (!isRecord(value)) return value;
      const copy: Record<string, unknown> = {};
      // No field of a session has this name, and setting it would set something else.
      for (const field of Object.keys(value).slice(0, maxItems)) {
        if (field !== "__proto__") copy[field] = reader.read(value[field], field, depth + 1);
      }
      return copy;
    },
  };
  return reader;
}

function cleanText(text: string, name: string): string {
  if (plainText.test(text)) return text;
  return longTexts.has(name) ? text.split("\n").map(toSingleLine).join("\n") : toSingleLine(text);
}
