/** What `beckon status --watch` knows and shows, as data. */
import { viewKeyOf } from "../../core/session/session-ref.ts";
import { formatSessionName, nameViews } from "../../core/view/session-names.ts";
import type { AskView, SessionView } from "../../core/view/session-view.ts";
import type { AnswerableAsk } from "../asks.ts";
import { nameOf } from "../find-session.ts";
import { stripControls } from "../output.ts";
import { listSearchTexts } from "../status-table.ts";
import type { PromptScreen } from "./prompt-box.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What was read last. */
export interface WatchData {
  /** False if these are the last known sessions of a beckon that does not answer. */
  readonly isRunning: boolean;
  /** In the order of `beckon status`. */
  readonly sessions: readonly SessionView[];
  /** Whether beckon is running, quiet modes, problems. */
  readonly notices: readonly string[];
}

export interface Message {
  readonly text: string;
  readonly isError: boolean;
  /** Wall time at which it goes away. */
  readonly until: number;
}

export type Screen =
  | { readonly kind: "list" }
  | { readonly kind: "filter" }
  | { readonly kind: "help"; readonly top: number }
  | PromptScreen
  | AskScreen;

/** One ask in full, as it was when the screen was opened. */
export interface AskScreen {
  readonly kind: "ask";
  readonly session: SessionView;
  readonly ask: AnswerableAsk;
  /** The first line on the screen. */
  readonly top: number;
  /** Every line before this one has been on the screen. */
  readonly seenTo: number;
  /** When exactly this text appeared. Wall time. */
  readonly openedAt: number;
}

export interface Model {
  readonly size: Size;
  /** Wall time. */
  readonly now: number;
  /** The user's home folder. Empty if unknown. */
  readonly home: string;
  readonly colour: boolean;
  /** null until the first answer. */
  readonly data: WatchData | null;
  /** The key of the selected session; null if there is none. */
  readonly selected: string | null;
  /** The first session on the screen. */
  readonly top: number;
  readonly filter: string;
  /** Whether sessions that ended are listed. Otherwise they are one line. */
  readonly hasEndedUnfolded: boolean;
  readonly screen: Screen;
  /** The selected session with everything that it asks, as it was read last. */
  readonly details: SessionView | null;
  /** Which details were asked for (see `detailsIdOf`), so that they are not asked for twice. */
  readonly requested: string | null;
  /** The ask to show in full as soon as its details are there. */
  readonly opening: { readonly key: string; readonly answerId: string } | null;
  /** The ask whose answer is on its way, and the key of its session. */
  readonly sending: { readonly key: string; readonly answerId: string } | null;
  readonly message: Message | null;
  /** Wall time at which the ask under the cursor last changed by itself. */
  readonly changedAt: number;
}

export function createModel(
  options: Pick<Model, "size" | "now" | "home" | "colour"> & Partial<Pick<Model, "hasEndedUnfolded">>,
): Model {
  return {
    hasEndedUnfolded: false,
    ...options,
    data: null,
    selected: null,
    top: 0,
    filter: "",
    screen: { kind: "list" },
    details: null,
    requested: null,
    opening: null,
    sending: null,
    message: null,
    changedAt: Number.NEGATIVE_INFINITY,
  };
}

/** The names of all sessions, by key: two of one project are distinguished as in the menu and in alerts. */
export function nameAll({ data }: Model): (session: SessionView) => string {
  const names = nameViews(data?.sessions ?? []);
  return (session) => {
    const name = names.get(viewKeyOf(session));
    return stripControls(name ? formatSessionName(name) : nameOf(session));
  };
}

/** The sessions that match the filter: every word of it, in any case. Without a filter, those that ended are folded. */
export function listSessions(model: Model): readonly SessionView[] {
  const { data, filter, now, home, size } = model;
  const sessions = data?.sessions ?? [];
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return countFolded(model) > 0 ? sessions.filter(isLive) : sessions;
  const options = { now, home, columns: size.columns, colour: false };
  const texts = listSearchTexts(sessions, options).map((text) => text.toLowerCase());
  return sessions.filter((_, n) => words.every((word) => texts[n]?.includes(word)));
}

const isLive = ({ group }: SessionView): boolean => group !== "ended";

/** How many sessions that ended are not listed. */
export function countFolded({ data, filter, hasEndedUnfolded }: Model): number {
  if (hasEndedUnfolded || filter.trim() !== "") return 0;
  return data?.sessions.filter((session) => !isLive(session)).length ?? 0;
}

export function findSelected(model: Model): SessionView | null {
  return listSessions(model).find((session) => viewKeyOf(session) === model.selected) ?? null;
}

/** What the session waits for. */
export const blockingAsks = ({ asks }: SessionView): readonly AskView[] =>
  asks.filter(({ kind }) => kind !== "idle");

/** Changes when the session asks something else, or when what it asks can be answered. */
export function detailsIdOf(session: SessionView): string {
  const asks = blockingAsks(session).map(({ id, answerId = "" }) => `${id}/${answerId}`);
  return [viewKeyOf(session), ...asks].join(" ");
}

/** The same session with everything that it asks; null if that is not known, or old. */
export function findDetails({ details }: Model, session: SessionView): SessionView | null {
  return details && detailsIdOf(details) === detailsIdOf(session) ? details : null;
}
