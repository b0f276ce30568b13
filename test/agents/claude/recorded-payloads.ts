/** Payloads that hooks of the real CLI got. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJsonLines } from "../../json-lines.ts";

interface RecordedPayload {
  readonly variant: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const recordedPayloads: readonly RecordedPayload[] = parseJsonLines(
  readFileSync(join(import.meta.dir, "../../fixtures/payloads.jsonl"), "utf8"),
);
