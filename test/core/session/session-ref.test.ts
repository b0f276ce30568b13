import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { agents } from "../../../src/agents/index.ts";
import {
  isSameSession,
  parseSessionKey,
  type SessionRef,
  sessionKeyOf,
  viewKeyOf,
} from "../../../src/core/session/session-ref.ts";

// Any text, and often the characters that separate the parts of a key.
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(..."%/:#25Faé\ud800") }),
);
const agent = fc.oneof(
  fc.constantFrom(...agents.map(({ id }) => id)),
  fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/),
);
const anyRef: fc.Arbitrary<SessionRef> = fc.record({
  machine: fc.option(text),
  agent,
  sessionId: text,
});

describe("the key of a session", () => {
  test("on this machine is what earlier snapshots, journals and histories have", () => {
    expect(sessionKeyOf({ agent: "claude", sessionId: "5e55-1" })).toBe("claude:5e55-1");
    expect(sessionKeyOf({ machine: null, agent: "claude", sessionId: "5e55-1" })).toBe("claude:5e55-1");
    expect(viewKeyOf({ provider: "codex", sessionId: "a:b/c#d" })).toBe("codex:a:b/c#d");
  });

  test("on another machine begins with its name", () => {
    const ref = { machine: "build.example", agent: "claude", sessionId: "5e55-1" };
    expect(sessionKeyOf(ref)).toBe("build.example/claude:5e55-1");
    expect(parseSessionKey("build.example/claude:5e55-1")).toEqual(ref);
  });

  test("parsed again is the same session, whatever its id and its machine's name contain", () => {
    fc.assert(fc.property(anyRef, (ref) => expect(parseSessionKey(sessionKeyOf(ref))).toEqual(ref)));
  });

  test("is equal for the same session only", () => {
    fc.assert(
      fc.property(anyRef, anyRef, (a, b) => {
        expect(isSameSession(a, b)).toBe(sessionKeyOf(a) === sessionKeyOf(b));
        expect(isSameSession(a, { ...a })).toBe(true);
        expect(isSameSession(a, { ...a, machine: `${a.machine}2` })).toBe(false);
      }),
    );
  });

  test("is not every text, and reading one never throws", () => {
    expect(parseSessionKey("")).toBeNull();
    expect(parseSessionKey("5e55109e")).toBeNull();
    fc.assert(fc.property(text, (any) => expect(parseSessionKey(any) === null).toBe(!any.includes(":"))));
  });
});
