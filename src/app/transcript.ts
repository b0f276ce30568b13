/** What a session's transcript says around a moment, for the page. The page names a session, never a file. */
import type { LoadedAgents } from "../agents/index.ts";
import { readTranscriptAround } from "../agents/watch/transcript-window.ts";
import type { HistoryReader } from "../core/interfaces/index.ts";
import type { TranscriptLine, TranscriptPage } from "../core/interfaces/wire.ts";
import { limits } from "../core/limits.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";
import { takeStart, truncate } from "../core/text/truncate.ts";
import { splitCall } from "../core/view/moment-words.ts";
import type { Beat } from "../core/view/story.ts";
import { maskText } from "../secrets/index.ts";
import type { Store } from "../state/store.ts";
import type { Env } from "../system/folders.ts";

export interface TranscriptDeps {
  readonly agents: LoadedAgents;
  readonly store: Pick<Store, "get">;
  readonly history: Pick<HistoryReader, "findStory" | "findTranscript">;
  readonly env: Env;
}

const onlyRecorded = (machine: string | null): string =>
  machine === null
    ? "beckon cannot read this session's transcript. This is what it recorded itself."
    : `The transcript is on ${machine}. This is what beckon recorded here.`;

export async function readTranscript(
  deps: TranscriptDeps,
  key: string,
  at: number,
  before: number,
): Promise<TranscriptPage> {
  const page = await readFile(deps, key, at, before);
  if (page) return { ...page, lines: page.lines.map(toShownLine) };
  const { threads } = await deps.history.findStory({ session: key, day: at });
  const lines = (threads[0]?.beats ?? []).flatMap(toLines);
  return {
    lines: lines.map(toShownLine),
    hasEarlier: false,
    hasLater: false,
    why: onlyRecorded(parseSessionKey(key)?.machine ?? null),
  };
}

async function readFile(
  { agents, store, history, env }: TranscriptDeps,
  key: string,
  at: number,
  before: number,
): Promise<TranscriptPage | null> {
  const ref = parseSessionKey(key);
  const agent = ref && agents.get(ref.agent);
  // A path of another machine would mean another file here.
  if (!ref || ref.machine !== null || !agent?.readTranscriptRow) return null;
  const path = store.get(ref)?.transcriptPath ?? (await history.findTranscript(key)).path;
  const real = path === null ? null : await agent.findTranscript(path, env);
  return real === null ? null : readTranscriptAround(real, at, before, agent.readTranscriptRow);
}

/** A line can have megabytes. This much of it is masked. */
const maxMaskedLength = 4 * limits.maxTextLength;

/** Masked before it is cut to what is shown: half of a secret is not recognised as one. */
const toShownLine = (line: TranscriptLine): TranscriptLine => ({
  ...line,
  text: truncate(maskText(takeStart(line.text, maxMaskedLength)), limits.maxTextLength),
});

/** What the history has instead of a transcript. */
function toLines(beat: Beat): TranscriptLine[] {
  switch (beat.kind) {
    case "prompt":
      return [{ at: beat.at, who: "you", text: beat.text }];
    case "work":
      return beat.steps.map(({ at, tool, text }) => ({ at, who: "step", tool, text }));
    case "ask":
      return [{ at: beat.at, who: "step", ...splitCall(beat.text) }];
    case "earlier":
      return [];
    default:
      return [{ at: beat.at, who: "agent", text: beat.text }];
  }
}
