import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createGuard } from "../../src/api/guard.ts";
import {
  doors,
  factsOf,
  faults,
  type Part,
  parts,
  port,
  refusedWith,
  token,
  values,
  walls,
} from "./attacks.ts";

const admit = createGuard({ port, token });

const goodHook: Record<Part, string> = {
  method: "POST",
  host: "good",
  origin: "none",
  referer: "none",
  secFetch: "none",
  authorization: "good",
  contentType: "json",
  contentLength: "some",
};
const goodRead = { ...goodHook, method: "GET", contentType: "missing", contentLength: "missing" };
const goodAt = (path: string) => (doors[path]?.contentType === undefined ? goodRead : goodHook);
const good = factsOf("/api/hook", goodHook);

describe("one thing wrong with an otherwise good request", () => {
  for (const part of parts) {
    test.each(Object.keys(values[part]))(`${part}: %s`, (label) => {
      for (const path of Object.keys(doors)) {
        const labels = { ...goodAt(path), [part]: label };
        const verdict = admit(factsOf(path, labels));
        const wanted = faults(path, labels).length === 0 ? [200] : refusedWith[part];
        expect(verdict.ok ? 200 : verdict.status, path).toBeOneOf([...wanted]);
      }
    });
  }

  test.each(walls)("%p is not a route, and only a client with the token learns that", (path) => {
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
    contentType: ["json", "json, utf-8", "plain text", "missing"],
    method: ["GET", "POST", "OPTIONS", "HEAD", "DELETE"],
    contentLength: ["missing", "the limit", "over the limit", "negative"],
  };

  function* product(rest: readonly Part[], labels: Record<Part, string>): Generator<Record<Part, string>> {
    const [part, ...others] = rest;
    if (part === undefined) {
      yield labels;
      return;
    }
    for (const label of chosen[part]) {
      labels[part] = label;
      yield* product(others, labels);
    }
  }

  test.each([...Object.keys(doors), "/", "/api/hook/"])(
    "%p lets in exactly what the table says, and tells strangers nothing",
    (path) => {
      const wrong: unknown[] = [];
      const count = { admitted: 0, refused: 0 };
      for (const labels of product(parts, { ...goodHook })) {
        const verdict = admit(factsOf(path, labels));
        const found = faults(path, labels);
        count[verdict.ok ? "admitted" : "refused"] += 1;
        if (verdict.ok) {
          if (found.length > 0) wrong.push({ ...labels, found });
          continue;
        }
        const isExplained = found.some((part) => refusedWith[part].includes(verdict.status));
        const isStranger = path !== "/health" && labels.authorization !== "good";
        const isPreflight = labels.method === "OPTIONS" && verdict.status === 405;
        const tellsNothing = verdict.status === 401 || verdict.status === 403 || isPreflight;
        if (!isExplained || (isStranger && !tellsNothing)) wrong.push({ ...labels, found, verdict });
      }
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(count.admitted > 0).toBe(doors[path] !== undefined);
      expect(count.refused).toBeGreaterThan(0);
    },
  );
});

describe("whatever comes", () => {
  const anyText = fc.oneof(
    fc.constant(null),
    fc.string({ unit: "binary" }),
    fc.constantFrom(...parts.flatMap((part) => Object.values(values[part]))),
  );
  const anyFacts = fc.record({
    method: fc.oneof(fc.string(), fc.constantFrom("GET", "POST")),
    path: fc.oneof(fc.string(), fc.webPath(), fc.constantFrom(...Object.keys(doors), ...walls)),
    host: fc.oneof(anyText, fc.constant(good.host)),
    origin: fc.oneof(anyText, fc.constant(null)),
    referer: fc.oneof(anyText, fc.constant(null)),
    secFetch: fc.oneof(anyText, fc.constant(null)),
    authorization: anyText,
    contentType: anyText,
    contentLength: fc.oneof(anyText, fc.constant("1")),
  });

  test("only /health works without the token", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const mayPass = facts.path === "/health" || facts.authorization === good.authorization;
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
    const atUsual = createGuard({ port: 80, token });
    for (const host of ["127.0.0.1", "localhost", "127.0.0.1:80"])
      expect(atUsual({ ...good, host }).ok).toBe(true);
    for (const host of ["127.0.0.1:4488", "evil.example", null])
      expect(atUsual({ ...good, host }).ok).toBe(false);
    expect(admit({ ...good, host: "127.0.0.1" }).ok).toBe(false);
  });

  test("a damaged token file does not let anyone in", () => {
    expect(() => createGuard({ port, token: "" })).toThrow("the token has 0 characters, it needs 43 or more");
  });
});
