import { test } from "bun:test";
import { checkKills } from "../torture/kill-run.ts";

test(
  "after 300 times kill -9 under load, every accepted event is there once and counted",
  () => checkKills({ times: 300, longRuns: 6 }),
  7 * 60_000,
);
