/** What a machine's sessions did while it was not linked, made into a part of this machine's history. Pure. */
import { type AskEnding, askEndings } from "../core/answers/ending.ts";
import type { PastAsk, PastSession } from "../core/interfaces/wire.ts";
import { createMirroredRequest } from "../core/session/keys.ts";
import { makeLineVisible } from "../core/text/visible.ts";
import { isPlainId, isShownAsItIs } from "./mirrored-session.ts";
import type { DescribedPast } from "./protocol.ts";

/** A newer beckon may know more endings. */
export const readEnding = (how: string): AskEnding =>
  askEndings.find((known) => known === how) ?? "dismissed";

/** `shiftAt` is added to its times; none of them becomes later than `now`. null if it is not a valid session. */
export function readPastSession(
  described: DescribedPast,
  machine: string,
  shiftAt: number,
  now: number,
): PastSession | null {
  if (!isPlainId(described.agent) || !isShownAsItIs(described.sessionId)) return null;
  // A time before 1970 may not be one.
  const shift = (at: number) => Math.min(Math.max(0, Math.round(at + shiftAt)), now);
  const shiftEnd = (at: number | null) => (at === null ? null : shift(at));
  const readAsk = (ask: DescribedPast["asks"][number]): PastAsk => ({
    ...ask,
    request: ask.request === null ? null : createMirroredRequest(machine, ask.request),
    tool: showText(ask.tool),
    summary: makeLineVisible(ask.summary),
    openedAt: shift(ask.openedAt),
    closedAt: shiftEnd(ask.closedAt),
    how: ask.how === null ? null : readEnding(ask.how),
    place: showText(ask.place),
    detail: showText(ask.detail),
  });
  return {
    ...described,
    project: showText(described.project),
    cwd: showText(described.cwd),
    branch: showText(described.branch),
    title: showText(described.title),
    model: showText(described.model),
    startedAt: shift(described.startedAt),
    lastAt: shift(described.lastAt),
    endedAt: shiftEnd(described.endedAt),
    asks: described.asks.map(readAsk),
    spans: described.spans.map(({ state, from, to }) => ({ state, from: shift(from), to: shiftEnd(to) })),
  };
}

const showText = (text: string | null): string | null => text && makeLineVisible(text);
