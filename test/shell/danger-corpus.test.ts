/**
 * Labelled commands: how many dangerous ones are marked, and how many everyday ones are marked by mistake. The commands are data and
 * are never run.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findDangers } from "../../src/agents/claude/answering/dangers.ts";

interface LabelledCommand {
  readonly command: string;
  readonly mark: boolean;
  readonly why?: string;
}

interface Score {
  readonly recall: number;
  readonly falseMarks: number;
  readonly wrong: readonly string[];
}

async function score(file: string): Promise<Score> {
  const rows: readonly LabelledCommand[] = await Bun.file(join(import.meta.dir, "../fixtures", file)).json();
  const wrong = rows.filter(
    ({ command, mark }) => findDangers("Bash", { command }, { cwd: "/home/dev/proj" }).length > 0 !== mark,
  );
  const count = (list: readonly LabelledCommand[], mark: boolean) =>
    list.filter((row) => row.mark === mark).length;
  return {
    recall: 1 - count(wrong, true) / count(rows, true),
    falseMarks: count(wrong, false) / count(rows, false),
    wrong: wrong.map(
      ({ command, mark, why }) => `${mark ? "missed" : "marked"}: ${command} (${why ?? "no reason given"})`,
    ),
  };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

describe("labelled commands", () => {
  test.each([
    "dangers.json",
    "dangers-unseen.json",
    "dangers-more.json",
    "dangers-fresh-1.json",
    "dangers-fresh-2.json",
    "dangers-fresh-3.json",
    "dangers-fresh-4.json",
    "dangers-fresh-5.json",
    "dangers-fresh-6.json",
    "dangers-fresh-7.json",
    "dangers-fresh-8.json",
    "dangers-fresh-9.json",
  ])("%s", async (file) => {
    const { recall, falseMarks, wrong } = await score(file);
    console.log(
      `${file}: ${percent(recall)} of the dangerous marked, ${percent(falseMarks)} of the everyday`,
    );
    if (recall < 0.95 || falseMarks > 0.03) console.log(wrong.join("\n"));
    expect(recall).toBeGreaterThanOrEqual(0.95);
    expect(falseMarks).toBeLessThanOrEqual(0.03);
  });
});
