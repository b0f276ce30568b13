/** The history as a story: what happened in a session on a day, as the moments that a user remembers. Pure. */
import type { AskEnding } from "../answers/ending.ts";
import { formatCount } from "../text/words.ts";
import { hourMs } from "../timing.ts";
import { kindOfTool, splitCall, type WorkKind } from "./moment-words.ts";

/** What the history has recorded at one time. */
export interface StoryMoment {
  readonly id: string;
  readonly at: number;
  /** As the history names it. */
  readonly kind: string;
  readonly text: string;
  /** null for an ask that is open, and for anything else. */
  readonly how: AskEnding | null;
  readonly where: string | null;
  /** What was replied, the message of a denial. null if there is none, or it is not known. */
  readonly detail: string | null;
  /** null if it is not an ask. */
  readonly waitedMs: number | null;
  readonly isFailure: boolean;
}

export type WorkCounts = Readonly<Partial<Record<WorkKind, number>>>;

export interface WorkStep {
  readonly id: string;
  readonly at: number;
  readonly tool: string;
  readonly text: string;
  /** Why it failed. Absent if it did not. */
  readonly error?: string;
  /** The moment at which it failed. */
  readonly errorId?: string;
}

interface BeatBase {
  /** Of its first moment. */
  readonly id: string;
  readonly at: number;
}

export interface AskBeat extends BeatBase {
  readonly kind: "ask";
  readonly ask: string;
  readonly text: string;
  readonly how: AskEnding | null;
  readonly where: string | null;
  readonly detail: string | null;
  readonly waitedMs: number;
}

export interface WorkBeat extends BeatBase {
  readonly kind: "work";
  readonly counts: WorkCounts;
  /** Until the next thing happened. */
  readonly tookMs: number;
  /** How many steps match the search. Absent if nothing is searched. */
  readonly hits?: number;
  /** Those that match, or the first of them. Never empty. */
  readonly steps: readonly WorkStep[];
}

export interface EarlierBeat extends BeatBase {
  readonly kind: "earlier";
  /** 0 if it is the start of a long turn. */
  readonly turns: number;
  readonly counts: WorkCounts;
  readonly asks: number;
  readonly tookMs: number;
}

export type Beat =
  | (BeatBase & { readonly kind: "prompt" | "failure" | "note"; readonly text: string })
  | (BeatBase & { readonly kind: "response"; readonly text: string; readonly tookMs: number | null })
  | AskBeat
  | WorkBeat
  | EarlierBeat;

/** What happens to a session besides prompts, work, asks, responses and failures is told only if it says something. */
const noteKinds: ReadonlySet<string> = new Set(["compact", "port"]);
/** Said by the head of the thread, or by the ask that they announce. */
export const untoldKinds: readonly string[] = ["started", "ended", "notification"];

const askKinds: ReadonlySet<string> = new Set(["permission", "question", "plan", "elicitation"]);

export const isAskKind = (kind: string): boolean => askKinds.has(kind);

const compactedText = "Compacted the conversation";

/** Work before it is known how long it took. */
interface OpenWork {
  steps: WorkStep[];
}

type Draft = Exclude<Beat, WorkBeat | EarlierBeat> | OpenWork;

const isWork = (draft: Draft): draft is OpenWork => "steps" in draft;

/**
 * One fact, one line: the ask is the command, so the command that an ask was about is not told again as work. Returns the ids of
 * those commands, of one session's moments, the oldest first.
 */
export function findAskedCalls(
  moments: readonly Pick<StoryMoment, "id" | "kind" | "text" | "isFailure">[],
): ReadonlySet<string> {
  const found = new Set<string>();
  /** Calls of this turn, and asks whose call is reported later. */
  let calls: { readonly id: string; readonly call: string }[] = [];
  let asked: string[] = [];
  for (const { id, kind, text, isFailure } of moments) {
    const call = kind === "skill" ? `Skill: ${text}` : text;
    if (kind === "prompt") {
      calls = [];
      asked = [];
    } else if (askKinds.has(kind)) {
      const index = calls.findLastIndex((known) => known.call === call);
      const [known] = index < 0 ? [] : calls.splice(index, 1);
      if (known) found.add(known.id);
      else asked.push(call);
    } else if ((kind === "tool" && !isFailure) || kind === "skill") {
      const index = asked.indexOf(call);
      if (index < 0) calls.push({ id, call });
      else {
        asked.splice(index, 1);
        found.add(id);
      }
    }
  }
  return found;
}

function draftBeats(moments: readonly StoryMoment[]): Draft[] {
  const drafts: Draft[] = [];
  const askedCalls = findAskedCalls(moments);
  let promptAt: number | null = null;

  function findStep(matches: (step: WorkStep) => boolean): { work: OpenWork; index: number } | null {
    for (const draft of drafts.toReversed()) {
      if (!isWork(draft)) {
        if (draft.kind === "prompt") return null;
        continue;
      }
      const index = draft.steps.findLastIndex(matches);
      if (index >= 0) return { work: draft, index };
    }
    return null;
  }

  function addStep(step: WorkStep): void {
    const last = drafts.at(-1);
    if (last && isWork(last)) last.steps.push(step);
    else drafts.push({ steps: [step] });
  }

  function addTool({ id, at, text, isFailure }: StoryMoment): void {
    if (isFailure) {
      const [tool, error] = splitFailure(text);
      const failed = findStep((step) => step.tool === tool && step.error === undefined);
      const step = failed?.work.steps[failed.index];
      if (failed && step) failed.work.steps[failed.index] = { ...step, error, errorId: id };
      else addStep({ id, at, tool, text: "", error });
      return;
    }
    addStep({ id, at, ...splitCall(text) });
  }

  function addAsk({ id, at, kind, text, how, where, detail, waitedMs }: StoryMoment): void {
    drafts.push({ kind: "ask", id, at, ask: kind, text, how, where, detail, waitedMs: waitedMs ?? 0 });
  }

  /** An agent reports the start of compacting and its end. */
  function addNote({ id, at, kind, text }: StoryMoment): void {
    const last = drafts.at(-1);
    const isSame = last && !isWork(last) && last.kind === "note" && last.text === compactedText;
    if (kind !== "compact") drafts.push({ kind: "note", id, at, text });
    else if (!isSame) drafts.push({ kind: "note", id, at, text: compactedText });
  }

  for (const moment of moments) {
    const { id, at, kind, text } = moment;
    if (askedCalls.has(id)) continue;
    if (askKinds.has(kind)) addAsk(moment);
    else if (kind === "tool") addTool(moment);
    else if (kind === "skill") addStep({ id, at, tool: "Skill", text });
    else if (kind === "failed") drafts.push({ kind: "failure", id, at, text });
    else if (noteKinds.has(kind)) addNote(moment);
    else if (kind === "answer") {
      drafts.push({ kind: "response", id, at, text, tookMs: promptAt === null ? null : at - promptAt });
    } else if (kind === "prompt") {
      promptAt = at;
      drafts.push({ kind: "prompt", id, at, text });
    }
  }
  return drafts.filter((draft) => !isWork(draft) || draft.steps.length > 0);
}

/** "Bash failed: exit code 1" */
function splitFailure(text: string): [tool: string, error: string] {
  const [, tool = text, error = ""] = /^(.{1,100}?) failed(?::\s*([\s\S]*))?$/.exec(text) ?? [];
  return [tool, error];
}

function countSteps(steps: readonly WorkStep[]): WorkCounts {
  const counts: Partial<Record<WorkKind, number>> = {};
  for (const { tool } of steps) {
    const kind = kindOfTool(tool);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function addCounts(all: readonly WorkCounts[]): WorkCounts {
  const sum: Partial<Record<WorkKind, number>> = {};
  for (const counts of all)
    for (const [kind, count] of Object.entries(counts) as [WorkKind, number][])
      sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

const maxSteps = 4;

function closeWork(
  { steps }: OpenWork,
  next: Draft | undefined,
  { hits, isWhole }: StoryOptions,
): WorkBeat | null {
  const first = steps[0] as WorkStep;
  const last = steps.at(-1) as WorkStep;
  const endAt = next && !isWork(next) ? next.at : last.at;
  const matching = hits ? steps.filter(({ id, errorId = id }) => hits.has(id) || hits.has(errorId)) : steps;
  if (matching.length === 0) return null;
  return {
    kind: "work",
    id: first.id,
    at: first.at,
    counts: countSteps(steps),
    tookMs: endAt - first.at,
    ...(hits ? { hits: matching.length } : {}),
    steps: isWhole || hits ? matching : matching.slice(0, maxSteps),
  };
}

export interface StoryOptions {
  /** Ids of what matches a search: nothing else is told. */
  readonly hits?: ReadonlySet<string>;
  /** Nothing is folded away. */
  readonly isWhole?: boolean;
}

/** `moments` are those of one session, the oldest first. */
export function tellStory(moments: readonly StoryMoment[], options: StoryOptions = {}): readonly Beat[] {
  const { hits } = options;
  const drafts = draftBeats(moments);
  const beats = drafts.flatMap((draft, index): Beat[] => {
    if (isWork(draft)) return [closeWork(draft, drafts[index + 1], options)].filter((beat) => beat !== null);
    return hits && !hits.has(draft.id) ? [] : [draft];
  });
  return hits || options.isWhole ? beats : foldEarlier(beats);
}

/** So many turns and beats of a session are shown at once; of more, the last. */
const maxTurns = 3;
const maxBeats = 24;
const keptBeats = 14;
/** Of a short session, what was asked is never folded away, up to so many beats. */
const shortTurns = 6;
const shortBeats = 40;

const isShort = (beats: readonly Beat[], turns: number): boolean =>
  beats.length <= shortBeats &&
  (turns <= shortTurns || (beats.at(-1)?.at ?? 0) - (beats[0]?.at ?? 0) < hourMs);

/** The older turns of a long session become one line. */
function foldEarlier(beats: readonly Beat[]): readonly Beat[] {
  const starts = beats.flatMap(({ kind }, index) => (kind === "prompt" ? [index] : []));
  if (starts.length <= maxTurns && beats.length <= maxBeats) return beats;
  const recent = starts.slice(starts.length > maxTurns ? -2 : -maxTurns);
  const cut =
    recent.find((start) => beats.length - start <= maxBeats) ?? Math.max(0, beats.length - keptBeats);
  const folded = beats.slice(0, cut);
  if (cut < 2 || (isShort(beats, starts.length) && folded.some(({ kind }) => kind === "ask"))) return beats;
  return [foldBeats(folded, (beats[cut] as Beat).at), ...beats.slice(cut)];
}

function foldBeats(beats: readonly Beat[], endAt: number): EarlierBeat {
  const [first] = beats as readonly [Beat, ...Beat[]];
  return {
    kind: "earlier",
    id: first.id,
    at: first.at,
    turns: beats.filter(({ kind }) => kind === "prompt").length,
    counts: addCounts(beats.map((beat) => (beat.kind === "work" ? beat.counts : {}))),
    asks: beats.filter(({ kind }) => kind === "ask").length,
    tookMs: endAt - first.at,
  };
}

const workWords: Readonly<Record<WorkKind, readonly [one: string, many?: string]>> = {
  command: ["command"],
  edit: ["edit"],
  lookup: ["lookup"],
  subagent: ["subagent"],
  skill: ["skill"],
  other: ["other step"],
};

const workKinds = Object.keys(workWords) as readonly WorkKind[];

/** "12 commands, 3 edits" */
export function formatWork(counts: WorkCounts): string {
  return workKinds
    .flatMap((kind) => {
      const count = counts[kind] ?? 0;
      return count === 0 ? [] : formatCount(count, ...workWords[kind]);
    })
    .join(", ");
}

/** "2 of 12 commands", "3 of 15 steps" */
export function formatHits({ counts, hits = 0 }: Pick<WorkBeat, "counts" | "hits">): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const kinds = workKinds.filter((kind) => counts[kind] !== undefined);
  const [one, many] = kinds.length === 1 ? workWords[kinds[0] as WorkKind] : ["step" as const];
  return `${hits} of ${formatCount(total, one, many)} ${hits === 1 ? "matches" : "match"}`;
}

/** "11 earlier turns", "earlier in this turn" */
export const formatEarlier = ({ turns }: Pick<EarlierBeat, "turns">): string =>
  turns === 0 ? "earlier in this turn" : formatCount(turns, "earlier turn");
