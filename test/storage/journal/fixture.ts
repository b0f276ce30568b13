import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type JournalEntry,
  type JournalLine,
  type JournalOptions,
  openJournal,
} from "../../../src/storage/journal/index.ts";

export function createEntry(
  id: string,
  body: unknown = { n: id },
  fields: Partial<JournalEntry> = {},
): JournalEntry {
  return {
    id,
    at: 1_700_000_000_000,
    t: 12.5,
    boot: "b",
    key: `k-${id}`,
    text: JSON.stringify(body),
    ...fields,
  };
}

export function openTestJournal(dir: string, options: Partial<JournalOptions> = {}) {
  const errors: string[] = [];
  const journal = openJournal(dir, {
    retentionDays: () => 7,
    onError: (text) => errors.push(text),
    ...options,
  });
  return { journal, errors };
}

/** What a beckon that starts now would read. */
export function readJournal(
  dir: string,
  after: Parameters<ReturnType<typeof openJournal>["replay"]>[0] = null,
) {
  const { journal, errors } = openTestJournal(dir);
  const lines: JournalLine[] = [];
  const result = journal.replay(after, (line) => lines.push(line));
  return { ...result, lines, ids: lines.map(({ id }) => id), errors };
}

export const listFiles = (dir: string): string[] => readdirSync(dir).sort();

export const newestSegment = (dir: string): string => join(dir, listFiles(dir).at(-1) ?? "");

export const readNewestSegment = (dir: string): string => readFileSync(newestSegment(dir), "utf8");

export function truncateFile(path: string, length: number): void {
  const fd = openSync(path, "r+");
  ftruncateSync(fd, length);
  closeSync(fd);
}
