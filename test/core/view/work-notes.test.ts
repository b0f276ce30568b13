import { expect, test } from "bun:test";
import type { SharedFile } from "../../../src/core/session/event.ts";
import { formatRoughAge } from "../../../src/core/view/figures.ts";
import { formatSharedFiles } from "../../../src/core/view/work-notes.ts";

const now = 10_000_000;
const file = (path: string, more: Partial<SharedFile> = {}): SharedFile => ({
  ...{ path, machine: null, agent: "codex", sessionId: "x1", project: "shop-api", at: now - 120_000, t: 0 },
  ...more,
});
const format = (...files: SharedFile[]) =>
  formatSharedFiles(files, "/p/shop", (at) => formatRoughAge(now - at));

test.each<[string, SharedFile[], string[]]>([
  ["one file", [file("/p/shop/src/a.ts")], ["src/a.ts also changed by codex in shop-api 2 min ago"]],
  ["just now", [file("/p/shop/a.ts", { at: now })], ["a.ts also changed by codex in shop-api just now"]],
  ["outside of the folder", [file("/q/a.ts")], ["/q/a.ts also changed by codex in shop-api 2 min ago"]],
  [
    "several of one session",
    ["a", "b", "c", "d"].map((name) => file(`/p/shop/${name}`)),
    ["a, b and 2 more also changed by codex in shop-api 2 min ago"],
  ],
  [
    "of two sessions, one on another machine",
    [file("/p/shop/a"), file("/p/shop/a", { sessionId: "x2", agent: "claude", machine: "devbox" })],
    [
      "a also changed by codex in shop-api 2 min ago",
      "a also changed by claude in shop-api on devbox 2 min ago",
    ],
  ],
  ["a name with a line break", [file("/p/shop/a\nb")], ["a b also changed by codex in shop-api 2 min ago"]],
])("%s", (_, files, lines) => {
  expect(format(...files)).toEqual(lines);
});
