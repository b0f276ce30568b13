import { test } from "bun:test";

/** "root", "linux", or the name of a command. */
type Need = "root" | "linux" | (string & {});

function has(need: Need): boolean {
  if (need === "root") return process.getuid?.() === 0;
  if (need === "linux") return process.platform === "linux";
  return Bun.which(need) !== null;
}

export const hasAll = (needs: readonly Need[]): boolean => needs.every(has);

/** A `test` that is skipped where something it needs is missing, under a name that says what. */
export function testWith(
  ...needs: Need[]
): (name: string, run: () => Promise<void>, timeoutMs?: number) => void {
  const missing = needs.filter((need) => !has(need));
  if (missing.length === 0) return test;
  return (name) => test.skip(`${name} (needs ${missing.join(", ")})`, () => {});
}
