import { test } from "bun:test";
import { survivesBodies } from "../torture/bodies-test.ts";

test(
  "500,000 bodies of every wrong kind: each is answered 2xx or 4xx, and memory stays flat",
  () => survivesBodies(500_000),
  7 * 60_000,
);
