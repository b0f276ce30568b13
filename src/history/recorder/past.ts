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

  function fold(): void {
    const parts = sql.listParts.all(0, Number.MAX_SAFE_INTEGER);
    const [first] = parts;
    if (!first) return;
    folded ??= readFolded();
    const state = writeState(folded);
    stateBytes = state.length;
    sql.addBlock.run(
      first.seq,
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
      sql.addPart.run(seq, records);
      open = { bytes: open.bytes + records.length, firstSeq: open.firstSeq ?? seq, lastSeq: seq };
      const isOld = open.firstSeq !== null && from - atOfSeq(open.firstSeq) > maxPartsAgeMs;
      if (open.bytes < Math.max(minBlockBytes, stateBytes) && !isOld) return;
      fold();
      open = { bytes: 0, firstSeq: null, lastSeq: seq };
    },
    shrink() {
      folded = null;
    },
  };
}
