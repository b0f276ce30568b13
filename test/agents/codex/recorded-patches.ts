/** Patches that the real Codex 0.166.0 accepts: the call in its rollout file, its request, and its item while it waits. */
import recorded from "../../fixtures/codex-patches.json";

export interface RecordedPatch {
  readonly name: string;
  /** Of the rollout file. */
  readonly row: { readonly payload: { readonly input: string } };
  readonly request: { readonly id: number; readonly method: string; readonly params: { itemId: string } };
  /** The result of `thread/resume`. */
  readonly resumed: {
    readonly initialTurnsPage: { readonly data: readonly [{ readonly items: readonly [RecordedItem] }] };
  };
}

interface RecordedItem {
  readonly changes: readonly {
    readonly path: string;
    readonly kind: { readonly type: string; readonly move_path?: string | null };
    readonly diff: string;
  }[];
}

export const recordedPatches = recorded as unknown as readonly RecordedPatch[];

/** The folder of the recorded session. */
export const recordedFolder = "/home/dev/proj";

export const changesOf = ({ resumed }: RecordedPatch): RecordedItem["changes"] =>
  resumed.initialTurnsPage.data[0].items[0].changes;
