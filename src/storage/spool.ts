/**
 * Events that came while beckon was down or slow: forwarders append one line each, and this takes them in order. How far
 * it got is not kept here but with each event in the journal, so that one write decides both.
 */

import { fstatSync, readSync, renameSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import { timing } from "../core/timing.ts";
import { splitGluedLines } from "./glued.ts";
import { completeLines, type FileLine } from "./lines.ts";
import { codeOf } from "./private.ts";
import { identify, putAwayOf, withSpoolFile } from "./spool-file.ts";

/** How far was taken. Opaque: the first part names the file, and the one being put away with its own offset. */
export type SpoolPosition = readonly [string, number];

export interface SpoolOptions {
  /** "later": it cannot be kept now, try again. */
  readonly take: (text: string, next: SpoolPosition) => Promise<"taken" | "refused" | "later">;
  readonly onError: (text: string) => void;
  readonly position: SpoolPosition | null;
  readonly maxLineBytes: number;
  readonly pollMs?: number;
  /** A writer opens, writes once and closes within 2 s: after this long without a change nobody writes any more. */
  readonly quietMs?: number;
}

export interface Spool {
  /** Takes what is there; returns how many events were taken. */
  poll(): Promise<number>;
  position(): SpoolPosition | null;
  stop(): Promise<void>;
}

interface Seen {
  readonly ino: number;
  readonly size: number;
  /** Since when it has this size, on the clock that nobody can set. */
  readonly since: number;
  readonly id: string;
  /** Everything before it is taken. */
  readonly offset: number;
  readonly blocked: boolean;
}

export function openSpool(path: string, options: SpoolOptions): Spool {
  const { onError, maxLineBytes, pollMs = timing.spoolPollMs, quietMs = 5_000 } = options;
  const putAway = putAwayOf(path);
  const name = basename(path);
  const offsets = decode(options.position);
  const seen = new Map<string, Seen>();
  let taken = 0;
  let stopped = false;
  let running: Promise<number> | null = null;

  async function offer(text: string, id: string, end: number): Promise<boolean> {
    const verdict = await options.take(text, encode(offsets, id, end)).catch((error: unknown) => {
      onError(`a spooled event could not be taken (${codeOf(error)}): it is tried again`);
      return "later";
    });
    if (verdict === "later") return false;
    if (verdict === "taken") taken++;
    offsets.set(id, end);
    return true;
  }

  async function takeLine(id: string, { start, end, text }: FileLine, newlineBytes = 1): Promise<boolean> {
    const whole = text?.trimEnd() ?? "";
    const pieces = whole === "" ? [] : splitGluedLines(whole);
    // Bytes that are no UTF-8 were replaced: then a place inside the line cannot be named.
    const exact = text !== null && start + Buffer.byteLength(text) + newlineBytes === end;
    for (const piece of pieces) {
      const inside = exact ? start + Buffer.byteLength(whole.slice(0, piece.end)) : start;
      if (!(await offer(piece.text, id, piece === pieces.at(-1) ? end : inside))) return false;
    }
    if (text === null || (whole !== "" && pieces[0]?.text !== whole)) {
      const why = text === null ? "is too long" : "is broken";
      const rest = pieces.length > 0 ? `${pieces.length} whole events in it were taken` : "it was skipped";
      onError(`${name}: the line at ${start} ${why} (${end - start} bytes): ${rest}`);
    }
    offsets.set(id, end);
    return true;
  }

  async function drain(file: string): Promise<Seen | null> {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (!stat) {
      seen.delete(file);
      return null;
    }
    const before = seen.get(file);
    const unchanged = before?.ino === stat.ino && before.size === stat.size;
    if (unchanged && !before.blocked) return before;
    const now = await withSpoolFile(file, async (fd): Promise<Seen> => {
      const { ino, size } = fstatSync(fd);
      const id = identify(fd);
      // Shorter than what was taken of it: somebody emptied it and wrote anew.
      if ((offsets.get(id) ?? 0) > size) offsets.set(id, 0);
      const blocked = !(await takeLines(fd, id, offsets.get(id) ?? 0));
      const since = unchanged ? before.since : performance.now();
      return { ino, size, since, id, offset: offsets.get(id) ?? 0, blocked };
    });
    if (now) seen.set(file, now);
    else seen.delete(file);
    return now;
  }

  async function takeLines(fd: number, id: string, from: number): Promise<boolean> {
    for (const line of completeLines(fd, from, maxLineBytes)) {
      if (stopped || !(await takeLine(id, line))) return false;
    }
    return true;
  }

  const isQuiet = ({ since }: Seen) => performance.now() - since >= quietMs;

  /** Nobody can add to it any more: its unfinished last line will stay so. */
  async function remove(file: string, old: Seen): Promise<void> {
    if (old.offset < old.size && !(await takeRest(file, old))) return;
    rmSync(file);
    seen.delete(file);
    offsets.delete(old.id);
  }

  async function takeRest(file: string, { id, offset, size }: Seen): Promise<boolean> {
    const done = await withSpoolFile(file, async (fd) => {
      const bytes = Buffer.alloc(Math.min(size - offset, maxLineBytes + 1));
      const read = readSync(fd, bytes, 0, bytes.length, offset);
      const text = bytes.length > maxLineBytes ? null : bytes.toString("utf8", 0, read);
      return takeLine(id, { start: offset, end: size, text }, 0);
    });
    return done ?? true;
  }

  async function pass(): Promise<void> {
    const old = await drain(putAway);
    if (old?.blocked) return;
    const fresh = await drain(path);
    if (fresh?.blocked) return;
    for (const id of offsets.keys()) if (id !== old?.id && id !== fresh?.id) offsets.delete(id);
    if (old) {
      if (isQuiet(old)) await remove(putAway, old);
    } else if (fresh && fresh.size > 0 && (fresh.offset >= fresh.size || isQuiet(fresh))) {
      // A writer that has it open writes into the renamed file, the next one makes a new one.
      renameSync(path, putAway);
      seen.delete(path);
      seen.set(putAway, { ...fresh, since: performance.now() });
    }
  }

  function poll(): Promise<number> {
    if (stopped) return Promise.resolve(0);
    if (running) return running;
    taken = 0;
    running = pass()
      .catch((error: unknown) => onError(`the spool could not be read (${codeOf(error)}): it is tried again`))
      .then(() => taken)
      .finally(() => {
        running = null;
      });
    return running;
  }

  const timer = setInterval(poll, pollMs);
  timer.unref();
  return {
    poll,
    position() {
      const [last] = [...offsets].at(-1) ?? [];
      return last === undefined ? null : encode(offsets, last, offsets.get(last) ?? 0);
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

function encode(offsets: ReadonlyMap<string, number>, id: string, end: number): SpoolPosition {
  const others = [...offsets]
    .filter(([other]) => other !== id)
    .map(([other, offset]) => `${other}@${offset}`);
  return [[id, ...others].join(" "), end];
}

/** It comes from a file: whatever is not understood counts as nothing taken. */
function decode(position: SpoolPosition | null): Map<string, number> {
  const offsets = new Map<string, number>();
  if (!Array.isArray(position) || typeof position[0] !== "string" || !Number.isSafeInteger(position[1]))
    return offsets;
  const [id = "", ...others] = position[0].split(" ");
  for (const other of others) {
    const [otherId = "", offset] = other.split("@");
    offsets.set(otherId, Number(offset) || 0);
  }
  return offsets.set(id, position[1]);
}
