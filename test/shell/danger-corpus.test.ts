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
  /** The project's folder, if it is not ~/proj. */
  readonly cwd?: string;
}

interface Score {
  readonly recall: number;
  readonly falseMarks: number;
  readonly wrong: readonly string[];
}

const home = "/home/dev";

async function score(...files: readonly string[]): Promise<Score> {
  const lists = await Promise.all(
    files.map(
      (file): Promise<LabelledCommand[]> => Bun.file(join(import.meta.dir, "../fixtures", file)).json(),
    ),
  );
  const rows = lists.flat();
  const wrong = rows.filter(({ command, mark, cwd = "~/proj" }) => {
    const dangers = findDangers("Bash", { command }, { cwd: cwd.replace("~", home), home });
    return dangers.length > 0 !== mark;
  });
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
    "dangers-wrapped-and-hidden.json",
    "dangers-runners-and-servers.json",
    "dangers-obscured.json",
    "dangers-siblings-of-corpus.json",
    "dangers-command-chains.json",
    "dangers-options-that-run.json",
    "dangers-files-git-and-servers.json",
    "dangers-overwrites-and-cloud.json",
    "dangers-corpus-style.json",
  ])("%s", async (file) => {
    const { recall, falseMarks, wrong } = await score(file);
    console.log(
      `${file}: ${percent(recall)} of the dangerous marked, ${percent(falseMarks)} of the everyday`,
    );
    if (recall < 0.95 || falseMarks > 0.03) console.log(wrong.join("\n"));
    expect(recall).toBeGreaterThanOrEqual(0.95);
    expect(falseMarks).toBeLessThanOrEqual(0.03);
  });

  test("commands of everyday work with agents", async () => {
    const { recall, falseMarks, wrong } = await score(
      "dangerous-commands.json",
      "everyday-commands.json",
      "everyday-commands-2.json",
    );
    console.log(`${percent(recall)} of the dangerous marked, ${percent(falseMarks)} of the everyday`);
    console.log(wrong.join("\n"));
    expect(recall).toBeGreaterThanOrEqual(0.97);
    expect(falseMarks).toBeLessThanOrEqual(0.02);
  });
});
