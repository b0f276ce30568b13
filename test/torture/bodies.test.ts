import { test } from "bun:test";
import { survivesBodies } from "./bodies-test.ts";

test(
  "100,000 bodies of every wrong kind: each is answered 2xx or 4xx, and the app is right afterwards",
  () => survivesBodies(100_000),
  180_000,
);
