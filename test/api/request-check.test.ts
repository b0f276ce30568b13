import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRequestCheck } from "../../src/api/request-check.ts";
import { routes as apiRoutes, findRoute, type Route } from "../../src/api/routes.ts";
import {
  createPageCheck,
  factsOf,
  findFaults,
  nonRoutes,
  type Part,
  parts,
  port,
  publicPaths,
  refusalStatuses,
  routes,
  token,
  values,
} from "./attacks.ts";

const admit = createRequestCheck({ port, token, page: createPageCheck() });

const goodHook: Record<Part, string> = {
  method: "POST",
  host: "good",
  origin: "none",
  referer: "none",
  secFetch: "none",
  authorization: "good",
  cookie: "none",
  pageKey: "none",
  contentType: "json",
  contentLength: "some",
};
const goodRead = { ...goodHook, method: "GET", contentType: "missing", contentLength: "missing" };
const goodAt = (path: string) => (routes[path]?.contentType === undefined ? goodRead : goodHook);
/** As beckon's own page sends it. */
const fromPage = {
  origin: "none",
  referer: "none",
  secFetch: "own page",
  authorization: "missing",
  cookie: "good",
  pageKey: "good",
};
const pagePaths = Object.keys(routes).filter((path) => routes[path]?.page !== undefined);
const good = factsOf("/api/hook", goodHook);

test("the table of attacks has every route", () => {
  const covered = new Set(Object.keys(routes).map(findRoute));
  expect(Object.values<Route>(apiRoutes).filter((route) => !covered.has(route))).toEqual([]);
});

describe("one thing wrong with an otherwise good request", () => {
  for (const part of parts) {
    test.each(Object.keys(values[part]))(`${part}: %s`, (label) => {
      for (const path of Object.keys(routes)) {
        const labels = { ...goodAt(path), [part]: label };
        const verdict = admit(factsOf(path, labels));
        const wanted = findFaults(path, labels).length === 0 ? [200] : refusalStatuses[part];
        expect(verdict.ok ? 200 : verdict.status, path).toBeOneOf([...wanted]);
      }
    });
  }

  for (const part of parts) {
    test.each(Object.keys(values[part]))(`from the page, ${part}: %s`, (label) => {
      for (const path of pagePaths) {
        const labels = { ...goodAt(path), ...fromPage, [part]: label };
        const verdict = admit(factsOf(path, labels));
        const found = findFaults(path, labels);
        const wanted = found.length === 0 ? [200] : found.flatMap((fault) => refusalStatuses[fault]);
        expect(verdict.ok ? 200 : verdict.status, path).toBeOneOf([...wanted]);
      }
    });
  }

  test("the page's secrets open nothing that is not the page's", () => {
    for (const path of Object.keys(routes).filter((route) => !pagePaths.includes(route))) {
      const verdict = admit(factsOf(path, { ...goodAt(path), ...fromPage }));
      expect([path, verdict.ok]).toEqual([path, publicPaths.has(path)]);
    }
  });

  test.each(nonRoutes)("%p is not a route, and only a client with the token learns that", (path) => {
    for (const labels of [goodHook, goodRead]) {
      expect(admit(factsOf(path, labels))).toMatchObject({ ok: false, status: 404 });
      expect(admit(factsOf(path, { ...labels, authorization: "missing" }))).toMatchObject({ status: 401 });
    }
  });
});

describe("everything wrong with everything", () => {
  const chosen: Record<Part, readonly string[]> = {
    host: [
      "good",
      "localhost",
      "evil",
      "empty",
      ":port",
      "duplicate",
      "wrong port",
      "localhost.evil",
      "0.0.0.0",
    ],
    origin: ["none", "own", "evil", "null"],
    referer: ["none", "own", "evil"],
    secFetch: ["none", "own page", "cross-site"],
    authorization: ["good", "wrong", "prefix", "missing", "lower-case scheme", "two tokens"],
    cookie: ["none"],
    pageKey: ["none"],
    contentType: ["json", "json, utf-8", "plain text", "missing"],
    method: ["GET", "POST", "OPTIONS", "HEAD", "DELETE"],
    contentLength: ["missing", "the limit", "over the limit", "negative"],
  };

  /** What a browser can send, with every combination of the page's secrets. */
  const chosenFromPage: Record<Part, readonly string[]> = {
    host: ["good", "localhost", "evil"],
    origin: ["none", "own", "evil", "null"],
    referer: ["none", "own", "evil"],
    secFetch: ["none", "typed", "own page", "same-site", "cross-site"],
    authorization: ["good", "wrong", "missing"],
    cookie: ["none", "good", "good among others", "expired", "twice"],
    pageKey: ["none", "good", "wrong", "the token"],
    contentType: ["json", "plain text"],
    method: ["GET", "POST", "OPTIONS"],
    contentLength: ["some"],
  };

  function* product(
    rest: readonly Part[],
    labels: Record<Part, string>,
    chosen: Record<Part, readonly string[]>,
  ): Generator<Record<Part, string>> {
    const [part, ...others] = rest;
    if (part === undefined) {
      yield labels;
      return;
    }
    for (const label of chosen[part]) {
      labels[part] = label;
      yield* product(others, labels, chosen);
    }
  }

  test.each([
    ...[...Object.keys(routes), "/api/hook/"].map((path) => [path, "with tokens", chosen] as const),
    ...pagePaths.map((path) => [path, "with the page's secrets", chosenFromPage] as const),
  ])("%p accepts exactly what the table says, and reveals nothing to others, %s", (path, _what, choices) => {
    const wrong: unknown[] = [];
    const count = { admitted: 0, refused: 0 };
    for (const labels of product(parts, { ...goodHook }, choices)) {
      const verdict = admit(factsOf(path, labels));
      const found = findFaults(path, labels);
      count[verdict.ok ? "admitted" : "refused"] += 1;
      if (verdict.ok) {
        if (found.length > 0) wrong.push({ ...labels, found });
        continue;
      }
      const isExplained = found.some((part) => refusalStatuses[part].includes(verdict.status));
      const isOpen = publicPaths.has(path);
      const isStranger = !isOpen && labels.authorization !== "good" && !labels.cookie.startsWith("good");
      const isPreflight = labels.method === "OPTIONS" && verdict.status === 405;
      const tellsNothing = verdict.status === 401 || verdict.status === 403 || isPreflight;
      if (!isExplained || (isStranger && !tellsNothing)) wrong.push({ ...labels, found, verdict });
    }
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(count.admitted > 0).toBe(routes[path] !== undefined);
    expect(count.refused).toBeGreaterThan(0);
  });
});

describe("whatever comes", () => {
  const anyText = fc.oneof(
    fc.constant(null),
    fc.string({ unit: "binary" }),
    fc.constantFrom(...parts.flatMap((part) => Object.values(values[part]))),
  );
  const anyFacts = fc.record({
    method: fc.oneof(fc.string(), fc.constantFrom("GET", "POST")),
    path: fc.oneof(fc.string(), fc.webPath(), fc.constantFrom(...Object.keys(routes), ...nonRoutes)),
    host: fc.oneof(anyText, fc.constant(good.host)),
    origin: fc.oneof(anyText, fc.constant(null)),
    referer: fc.oneof(anyText, fc.constant(null)),
    secFetch: fc.oneof(anyText, fc.constant(null)),
    authorization: anyText,
    cookie: anyText,
    pageKey: anyText,
    contentType: anyText,
    contentLength: fc.oneof(anyText, fc.constant("1")),
  });

  test("only /health, the page's entry, renewal, style and icon work without the token or the page's secrets", () => {
    const isPage = ({ cookie, pageKey }: { cookie: string | null; pageKey: string | null }) =>
      cookie?.includes(values.cookie.good ?? "") === true || pageKey === values.pageKey.good;
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const isOpen = publicPaths.has(facts.path);
        const mayPass = isOpen || facts.authorization === good.authorization || isPage(facts);
        expect(admit(facts).ok && !mayPass).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });

  test("a good hook with any one part replaced by anything else is refused", () => {
    const strict = ["method", "host", "origin", "referer", "secFetch", "authorization"] as const;
    fc.assert(
      fc.property(fc.constantFrom(...strict), fc.string({ unit: "binary" }), (part, text) => {
        fc.pre(text !== good[part] && !(part === "host" && text === values.host.localhost));
        expect(admit({ ...good, [part]: text }).ok).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a good request leaves nothing behind that completes the next one's token", () => {
    for (const last of ["", "\0", " ", "\u00e9", "\u00ff"]) {
      expect(admit(good).ok).toBe(true);
      const authorization = `Bearer ${token.slice(0, -1)}${last}`;
      expect(admit({ ...good, authorization })).toMatchObject({ status: 401 });
    }
  });

  test("a refusal says what to do and never repeats the token", () => {
    for (const part of parts) {
      for (const value of Object.values(values[part])) {
        const verdict = admit({ ...good, [part]: value });
        if (!verdict.ok) expect(verdict.error).not.toContain(token);
      }
    }
    expect(admit({ ...good, host: "evil" })).toMatchObject({
      error: "wrong Host header: use http://127.0.0.1:4488",
    });
    expect(admit({ ...good, authorization: null })).toMatchObject({
      error: "missing or wrong token: send the line in the file auth-header (curl -H @auth-header)",
    });
  });

  test("on port 80 the Host header has no port", () => {
    const atUsual = createRequestCheck({ port: 80, token, page: createPageCheck(80) });
    for (const host of ["127.0.0.1", "localhost", "127.0.0.1:80"])
      expect(atUsual({ ...good, host }).ok).toBe(true);
    for (const host of ["127.0.0.1:4488", "evil.example", null])
      expect(atUsual({ ...good, host }).ok).toBe(false);
    expect(admit({ ...good, host: "127.0.0.1" }).ok).toBe(false);
  });

  test("a damaged token file does not let anyone in", () => {
    expect(() => createRequestCheck({ port, token: "", page: createPageCheck() })).toThrow(
      "the token has 0 characters, it needs 43 or more",
    );
  });
});
