import { test } from "bun:test";
import { checkBodies } from "./bodies-run.ts";

test(
  "30,000 wrong bodies of every kind get a 2xx or 4xx each, and the sessions are right afterwards",
  () => checkBodies(30_000),
  180_000,
);
