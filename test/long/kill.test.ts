import { test } from "bun:test";
import { checkKills } from "../torture/kill-run.ts";

test(
  "300 times kill -9 at random moments under load: what was taken is there, once, and counted",
  () => checkKills({ times: 300, longLives: 6 }),
  7 * 60_000,
);
