import { expect, test } from "bun:test";
import { join } from "node:path";
import { findRoute, routes } from "../../src/api/routes.ts";
import { repo } from "../repo.ts";

test("docs/api.md lists every route, and no other", async () => {
  const docs = await Bun.file(join(repo, "docs/api.md")).text();
  const documented = [...docs.matchAll(/^\| `((?:GET|POST) [^`]+)` \|/gm)].map(([, route = ""]) => route);
  const expected = Object.values(routes).map(({ method, path }) => `${method} ${path.replace(":id", "ID")}`);
  expect(documented.sort()).toEqual(expected.sort());
});

test("a path is found only if it is spelled exactly", () => {
  expect(findRoute("/api/sessions/abc")).toBe(routes.session);
  expect(findRoute("/api/sessions/abc/mute")).toBe(routes.mute);
  expect(findRoute("/")).toBe(routes.page);
  for (const path of [
    "/api/sessions/",
    "/api/sessions//mute",
    "/api/sessions/a/b/c",
    "/API/sessions",
    "/api/hook/",
  ]) {
    expect(findRoute(path)).toBeUndefined();
  }
});
