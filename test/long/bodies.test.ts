import { test } from "bun:test";
import { checkBodies } from "../torture/bodies-run.ts";

test(
  "500,000 bodies of every wrong kind: each is answered 2xx or 4xx, and memory stays flat",
  () => checkBodies(500_000),
  7 * 60_000,
);
