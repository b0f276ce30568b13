import { test } from "bun:test";

/** "root", "linux", or the name of a command. */
type Need = "root" | "linux" | (string & {});

function has(need: Need): boolean {
  if (need === "root") return process.getuid?.() === 0;
  if (need === "linux") return process.platform === "linux";
  return Bun.which(need) !== null;
}

/** Whole files that need Linux: namespaces, a virtual screen, Wine, packages of Debian, /proc. */
const linuxOnly = [
  "test/agent/",
  "test/bench/",
  "test/build.test.ts",
  "test/channels/",
  "test/dashboard/",
  "test/desktop/",
  "test/hook/",
  "test/long/",
  "test/machines/",
  "test/release/",
  "test/setup.test.ts",
  "test/torture/",
  "test/wine/",
];
/** In those folders, what needs nothing but Bun. */
const everywhere = ["test/desktop/macos-", "test/desktop/login-macos-", "test/desktop/open-list"];

/** Whether a test file is left out on this system. A single test that needs something uses `testWith`. */
export function needsOtherSystem(file: string, platform: NodeJS.Platform = process.platform): boolean {
  const isIn = (paths: readonly string[]) => paths.some((path) => file.startsWith(path));
  return platform !== "linux" && isIn(linuxOnly) && !isIn(everywhere);
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
