/** The messages between the app and the thread that owns the database. */
import type { HistoryQuery, StoryQuery } from "../core/interfaces/wire.ts";
import type { StudyTask } from "../rules/study.ts";
import type { JournalPosition } from "../storage/journal/index.ts";
import type { PastPart } from "./past-state.ts";
import type { OpenState } from "./rows.ts";
import type { WaitingRows } from "./waiting-rows.ts";

export interface HistoryRetention {
  readonly days: number;
  readonly maxMb: number;
}

export type HistoryCall =
  | { readonly name: "findItems"; readonly query: HistoryQuery }
  | { readonly name: "findStory"; readonly query: StoryQuery }
  | { readonly name: "findTranscript"; readonly key: string }
  | { readonly name: "computeStats"; readonly days: number }
  | { readonly name: "computeLanes"; readonly from: number; readonly to: number }
  | { readonly name: "findMissedEvents"; readonly afterId: string }
  | { readonly name: "findPast"; readonly since: number }
  | { readonly name: "findMoment"; readonly at: number }
  | { readonly name: "studyAsks"; readonly task: StudyTask };

/** Records, or where they are. */
export type WaitingPart = Omit<PastPart, "records"> & { readonly records: string | WaitingRows };

export type ToHistory =
  | {
      readonly kind: "open";
      readonly path: string;
      /** The journal's folder. */
      readonly journal: string;
      readonly defaultProvider: string;
      readonly retention: HistoryRetention;
    }
  /** The state at this position of the journal. Sent after "open" and whenever the thread asks for it with "behind". */
  | {
      readonly kind: "state";
      readonly upTo: JournalPosition;
      readonly open: OpenState;
      readonly past: PastPart | null;
    }
  /**
   * The journal has grown to this position, and the state adds these rows: a `StateRow[]` as JSON, or where it is. To copy a row
   * as an object takes twice as long as to write and parse it.
   */
  | {
      readonly kind: "write";
      readonly upTo: JournalPosition;
      readonly rows: string | WaitingRows;
      /** What the thread keeps as it is, for moments that are shown again. null if there is none. */
      readonly past: WaitingPart | null;
    }
  | { readonly kind: "retention"; readonly retention: HistoryRetention }
  | { readonly kind: "query"; readonly id: number; readonly call: HistoryCall }
  | { readonly kind: "close" };

export type FromHistory =
  /** The thread needs the state: it has started, or could not write for a while. */
  | { readonly kind: "behind" }
  /**
   * A "write" is done. If it is not recorded, its rows have to be sent again. The journal is recorded up to `upTo`; absent if that is
   * not known.
   */
  | { readonly kind: "written"; readonly isRecorded: boolean; readonly upTo?: JournalPosition | undefined }
  /** The database was damaged, and a new one is in its place: it has nothing of other machines. */
  | { readonly kind: "replaced" }
  /** It cannot write now. */
  | { readonly kind: "paused" }
  /** Why the history is incomplete; null if it is not. */
  | { readonly kind: "problem"; readonly text: string | null }
  /** There will be no history while beckon runs: why. */
  | { readonly kind: "unavailable"; readonly text: string }
  /** For the log. */
  | { readonly kind: "report"; readonly text: string }
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly reason: string }
  | { readonly kind: "closed" };
