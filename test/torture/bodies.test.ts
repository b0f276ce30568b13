import { test } from "bun:test";
import { checkBodies } from "./bodies-run.ts";

test(
  "100,000 bodies of every wrong kind: each is answered 2xx or 4xx, and the app is right afterwards",
  () => checkBodies(100_000),
  180_000,
);
