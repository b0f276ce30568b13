/**
 * Keeps the records that moments are shown from again. They are written as they come, and now and then folded into a block: packed,
 * with the state before them, so that a moment needs one block and what is not folded yet.
 */
import { dayMs } from "../../core/timing.ts";
import {
  applyRecords,
  createPastState,
  type PastPart,
  type PastState,
  packBlock,
  readBlock,
  writeState,
} from "../past-state.ts";
import { atOfSeq, toSeq } from "../seq.ts";
import type { Statements } from "./statements.ts";

/** A moment needs one block and as much again at most: about 8 ms of work. Packed, a block takes a tenth. */
const minBlockBytes = 512 * 1024;
/** Of a quiet user too, what is older than the retention must be in a block that can be removed. */
const maxPartsAgeMs = dayMs;

export interface PastWriter {
  add(part: PastPart | null): void;
  /** Gives back memory that is not needed while nothing happens. */
  shrink(): void;
}

export function createPastWriter(sql: Statements): PastWriter {
  /** What is not folded yet; null if that has not been read. */
  let open: { bytes: number; firstSeq: number | null; lastSeq: number } | null = null;
  /** A block holds at least as much change as state, so that many sessions do not make many large blocks. */
  let stateBytes = 0;
  /** The state after all blocks; null if it has to be read from the last one. */
  let folded: PastState | null = null;

  function readOpen(): NonNullable<typeof open> {
    const { bytes, firstSeq, lastSeq } = sql.measureParts.get() ?? {
      bytes: 0,
      firstSeq: null,
      lastSeq: null,
    };
    return { bytes, firstSeq, lastSeq: lastSeq ?? sql.findLastBlock.get(Number.MAX_SAFE_INTEGER)?.seq ?? 0 };
  }

  function readFolded(): PastState {
    const last = sql.findLastBlock.get(Number.MAX_SAFE_INTEGER);
    return last ? readBlock(last.block, Number.POSITIVE_INFINITY) : createPastState();
  }

  /** `newest` is not written by itself: in a storm, each part is as large as a block. */
  function fold(newest: { readonly seq: number; readonly records: string }): void {
    const parts = [...sql.listParts.all(0, Number.MAX_SAFE_INTEGER), newest];
    const firstSeq = parts[0]?.seq ?? newest.seq;
    folded ??= readFolded();
    const state = writeState(folded);
    stateBytes = state.length;
    sql.addBlock.run(
      firstSeq,
      packBlock(
        state,
        parts.map(({ records }) => records),
      ),
    );
    sql.removeParts.run();
    for (const { records } of parts) applyRecords(folded, JSON.parse(records), Number.POSITIVE_INFINITY);
  }

  return {
    add(part) {
      if (part === null) return;
      const { from, records } = part;
      open ??= readOpen();
      // Later than what is there, also if the clock was set back.
      const seq = Math.max(toSeq(from), open.lastSeq + 1);
      const bytes = open.bytes + records.length;
      const firstSeq = open.firstSeq ?? seq;
      const isOld = from - atOfSeq(firstSeq) > maxPartsAgeMs;
      const isFull = bytes >= Math.max(minBlockBytes, stateBytes) || isOld;
      if (isFull) fold({ seq, records });
      else sql.addPart.run(seq, records);
      open = isFull ? { bytes: 0, firstSeq: null, lastSeq: seq } : { bytes, firstSeq, lastSeq: seq };
    },
    shrink() {
      folded = null;
    },
  };
}
