import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type JournalEntry,
  type JournalLine,
  type JournalOptions,
  openJournal,
} from "../../../src/storage/journal/index.ts";

export function entry(id: string, body: unknown = { n: id }, more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id,
    at: 1_700_000_000_000,
    t: 12.5,
    boot: "b",
    key: `k-${id}`,
    text: JSON.stringify(body),
    ...more,
  };
}

export function open(dir: string, more: Partial<JournalOptions> = {}) {
  const errors: string[] = [];
  const journal = openJournal(dir, { retentionDays: () => 7, onError: (text) => errors.push(text), ...more });
  return { journal, errors };
}

/** What a beckon that starts now would read. */
export function linesOf(dir: string, after: Parameters<ReturnType<typeof openJournal>["replay"]>[0] = null) {
  const { journal, errors } = open(dir);
  const lines: JournalLine[] = [];
  const result = journal.replay(after, (line) => lines.push(line));
  return { ...result, lines, ids: lines.map(({ id }) => id), errors };
}

export const segments = (dir: string): string[] => readdirSync(dir).sort();

export const newest = (dir: string): string => join(dir, segments(dir).at(-1) ?? "");

export const textOf = (dir: string): string => readFileSync(newest(dir), "utf8");

export function cut(path: string, length: number): void {
  const fd = openSync(path, "r+");
  ftruncateSync(fd, length);
  closeSync(fd);
}
