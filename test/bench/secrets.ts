/** What masking costs an event with the prefilter, and without it: nearly no event has a secret, and all wait in one thread. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createMasker } from "../../src/secrets/index.ts";
import { mayContainSecret } from "../../src/secrets/prefilter.ts";
import { recordedPayloads } from "../agents/claude/recorded-payloads.ts";
import { formatFigures, interleave, meets, ratio } from "./rounds.ts";

const rounds = 15;
const repeats = 5;
const promptLength = 16_000;
const repo = join(import.meta.dir, "../..");

const maskers = [
  { filter: "with the prefilter", masker: createMasker(mayContainSecret) },
  { filter: "without", masker: createMasker(() => true) },
];

const payloads = recordedPayloads.map(({ payload }) => JSON.stringify(payload));
const prompt = readFileSync(join(repo, "ARCHITECTURE.md"), "utf8").slice(0, promptLength);
const kinds = [
  { kind: "a recorded event", texts: payloads, minRatio: 10 },
  {
    kind: `a prompt of ${promptLength.toLocaleString("en")} characters`,
    texts: [JSON.stringify({ prompt })],
    minRatio: 20,
  },
];

const isMet: boolean[] = [];
for (const { kind, texts, minRatio } of kinds) {
  const figures = await interleave(
    maskers.map(({ filter, masker }) => ({
      name: filter,
      run() {
        const started = performance.now();
        for (let n = 0; n < repeats; n++) for (const text of texts) masker.maskJson(text);
        return ((performance.now() - started) * 1_000) / repeats / texts.length;
      },
    })),
    { rounds },
  );
  console.log(`${kind}\n${formatFigures(figures, "µs/event", ["with the prefilter"], 1)}`);
  isMet.push(
    meets(
      `${kind} without the prefilter`,
      ratio(figures, "without", "with the prefilter"),
      "at least",
      minRatio,
    ),
  );
}
process.exitCode = isMet.every(Boolean) ? 0 : 1;
