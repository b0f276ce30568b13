/** Recordings of the real CLI: its hooks, its status file, and what the driver did, with times. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJsonLines } from "../json-lines.ts";

export interface Row {
  readonly ms: number;
  readonly src: "hook" | "session-file" | "driver" | string;
  readonly mark?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly file?: string;
  readonly gone?: boolean;
  readonly sessionId?: string;
  readonly status?: string;
  readonly waitingFor?: string;
  readonly statusUpdatedAt?: number;
  readonly pid?: number;
}

export interface Recording {
  readonly name: string;
  readonly rows: readonly Row[];
  /** The wall clock at ms 0. A file is seen after it was written, so never earlier than its own stamp. */
  readonly startedAt: number;
  readonly hasStatus: boolean;
}

const folder = join(import.meta.dir, "../fixtures/recordings");

export function readRecordings(): Recording[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), "utf8");
      const rows = parseJsonLines<Row>(text).sort((a, b) => a.ms - b.ms);
      const bases = rows.flatMap((row) => (row.statusUpdatedAt ? [row.statusUpdatedAt - row.ms] : []));
      return {
        name: name.replace(/\.jsonl$/, ""),
        rows,
        startedAt: bases.length ? Math.max(...bases) : 1_794_789_000_000,
        hasStatus: bases.length > 0,
      };
    });
}
