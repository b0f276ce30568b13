import { test } from "bun:test";
import { survivesKills } from "./kill-test.ts";

test(
  "kill -9 at random moments: what was taken is there once",
  () => survivesKills({ times: Number(process.env.KILLS ?? 25), longLives: 1 }),
  120_000,
);
