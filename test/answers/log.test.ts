import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnswerLogEntry, openAnswerLog, readAnswerLog } from "../../src/answers/log.ts";
import { modeOf, removeTemporaryFolders, temporaryFolder } from "../storage/folder.ts";

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
  by: "tray",
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
  test("keeps every line, the newest last, for its owner alone", () => {
    const { path, decisions } = create();
    for (let n = 0; n < 5; n++) decisions.add(entry(n));
    decisions.flush();
    expect(readAnswerLog(path)).toEqual([0, 1, 2, 3, 4].map((n) => entry(n)));
    expect(modeOf(path)).toBe("600");
  });

  test("does not grow for ever, and gives back what it has in order", () => {
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

  test("is written within a moment, without being told to", async () => {
    const { path, decisions } = create();
    decisions.add(entry(0));
    decisions.add(entry(1));
    while (!existsSync(path)) await Bun.sleep(5);
    expect(readAnswerLog(path)).toEqual([entry(0), entry(1)]);
  });

  test("lets go of what is older than the person wants", () => {
    const { path, decisions } = create();
    decisions.add(entry(0, { at: now - 8 * day }));
    decisions.add(entry(1, { at: now - 6 * day }));
    writeFileSync(`${path}.1`, `${JSON.stringify(entry(2, { at: now - 30 * day }))}\n`);
    utimesSync(`${path}.1`, new Date(now - 30 * day), new Date(now - 30 * day));
    decisions.prune(now);
    expect(readAnswerLog(path).map(({ asked }) => asked)).toEqual(["npm test 1"]);
    expect(existsSync(`${path}.1`)).toBe(false);
    expect(modeOf(path)).toBe("600");
  });

  test("in the order in which it happened, though some was written down later", () => {
    const { path, decisions } = create();
    for (const n of [0, 2, 1, 3]) decisions.add(entry(n));
    decisions.flush();
    expect(readAnswerLog(path).map(({ at }) => at - now)).toEqual([0, 1, 2, 3]);
  });

  test("lines that make no sense are passed over", () => {
    const { path, decisions } = create();
    decisions.add(entry(0));
    decisions.flush();
    appendFileSync(path, '{"at":\nnull\n[]\n{"at":"x","what":"answered"}\n{"at":1,"what":"other"}\n');
    decisions.add(entry(1));
    decisions.flush();
    expect(readAnswerLog(path)).toEqual([entry(0), entry(1)]);
  });

  test("nothing there: nothing to read; a folder in its place: said, and nothing breaks", () => {
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

  test("as JSON lines, that others can read", () => {
    const { path, decisions } = create();
    decisions.add(entry(0, { asked: "a\nb" }));
    decisions.flush();
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(entry(0, { asked: "a\nb" }));
  });
});
