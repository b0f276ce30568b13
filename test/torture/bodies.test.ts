import { test } from "bun:test";
import { survivesBodies } from "./bodies-test.ts";

const count = Number(process.env.BODIES ?? 100_000);
test(
  `${count} bodies of every wrong kind: each is answered 2xx or 4xx, and the app is right afterwards`,
  () => survivesBodies(count),
  180_000,
);
