import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openAnswerLog, readAnswerLog } from "../../src/answers/log.ts";
import type { AnswerLogEntry } from "../../src/streams/answer-log-entry.ts";
import { readMode, removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";
import { waitUntil } from "../wait-until.ts";

afterAll(removeTemporaryFolders);

const day = 24 * 60 * 60_000;
const now = Date.now();

const entry = (n: number, more: Partial<AnswerLogEntry> = {}): AnswerLogEntry => ({
  at: now + n,
  what: "answered",
  session: "claude:s-1",
  project: "shop-api",
  asked: `npm test ${n}`,
  outcome: "allowed",
  by: "menu",
  ...more,
});

function create(maxBytes?: number) {
  const path = join(temporaryFolder(), "decisions.jsonl");
  const errors: string[] = [];
  const size = maxBytes === undefined ? {} : { maxBytes };
  const decisions = openAnswerLog(path, {
    retentionDays: () => 7,
    onError: (text) => errors.push(text),
    ...size,
  });
  return { path, errors, decisions };
}

describe("the log of answers", () => {
  test("keeps every entry, newest last, readable only by its owner", () => {
    const { path, decisions } = create();
    for (let n = 0; n < 5; n++) decisions.add(entry(n));
    decisions.flush();
    expect(readAnswerLog(path)).toEqual([0, 1, 2, 3, 4].map((n) => entry(n)));
    expect(readMode(path)).toBe("600");
  });

  test("has a size limit, and is read in order", () => {
    const { path, decisions } = create(2_000);
    for (let n = 0; n < 200; n++) decisions.add(entry(n));
    decisions.flush();
    const kept = readAnswerLog(path).map(({ asked }) => asked);
    expect(kept.at(-1)).toBe("npm test 199");
    expect(kept.length).toBeWithin(20, 80);
    expect(kept).toEqual(Array.from({ length: kept.length }, (_, n) => `npm test ${200 - kept.length + n}`));
    for (const name of [path, `${path}.1`, `${path}.3`])
      expect(statSync(name).size).toBeLessThanOrEqual(2_000);
    expect(existsSync(`${path}.4`)).toBe(false);
  });

  test("is written soon without a flush", async () => {
    const { path, decisions } = create();
    decisions.add(entry(0));
    decisions.add(entry(1));
    await waitUntil(() => existsSync(path), 5_000);
    expect(readAnswerLog(path)).toEqual([entry(0), entry(1)]);
  });

  test("removes entries older than the retention", () => {
    const { path, decisions } = create();
    decisions.add(entry(0, { at: now - 8 * day }));
    decisions.add(entry(1, { at: now - 6 * day }));
    writeFileSync(`${path}.1`, `${JSON.stringify(entry(2, { at: now - 30 * day }))}\n`);
    utimesSync(`${path}.1`, new Date(now - 30 * day), new Date(now - 30 * day));
    decisions.prune(now);
    expect(readAnswerLog(path).map(({ asked }) => asked)).toEqual(["npm test 1"]);
    expect(existsSync(`${path}.1`)).toBe(false);
    expect(readMode(path)).toBe("600");
  });

  test("is sorted by time, even if some entries were written later", () => {
    const { path, decisions } = create();
    for (const n of [0, 2, 1, 3]) decisions.add(entry(n));
    decisions.flush();
    expect(readAnswerLog(path).map(({ at }) => at - now)).toEqual([0, 1, 2, 3]);
  });

  test("skips lines that make no sense", () => {
    const { path, decisions } = create();
    decisions.add(entry(0));
    decisions.flush();
    appendFileSync(path, '{"at":\nnull\n[]\n{"at":"x","what":"answered"}\n{"at":1,"what":"other"}\n');
    decisions.add(entry(1));
    decisions.flush();
    expect(readAnswerLog(path)).toEqual([entry(0), entry(1)]);
  });

  test("a missing file is empty; a folder in its place is reported", () => {
    expect(readAnswerLog("/nowhere/decisions.jsonl")).toEqual([]);
    const { path } = create();
    const errors: string[] = [];
    const inside = openAnswerLog(join(path, "x"), {
      retentionDays: () => 7,
      onError: (text) => errors.push(text),
    });
    inside.add(entry(0));
    inside.prune(now);
    expect(errors).toHaveLength(1);
  });

  test("is JSON lines that other programs can read", () => {
    const { path, decisions } = create();
    decisions.add(entry(0, { asked: "a\nb" }));
    decisions.flush();
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(entry(0, { asked: "a\nb" }));
  });
});
