import { test } from "bun:test";
import { checkBodies } from "../torture/bodies-run.ts";

test(
  "500,000 wrong bodies of every kind get a 2xx or 4xx each, and memory stays flat",
  () => checkBodies(500_000),
  7 * 60_000,
);
