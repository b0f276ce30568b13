/** What another machine sends becomes a session of its own, on this machine's clocks, whatever it claims. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { answerIdOf, isMirroredRequest } from "../../src/core/session/keys.ts";
import type { Session } from "../../src/core/session/session.ts";
import { makeVisible } from "../../src/core/text/visible.ts";
import { findClockShift, readDescribedSession } from "../../src/machines/mirrored-session.ts";
import { formatMessage, type OwnerMessage, parseOwnerMessage } from "../../src/machines/protocol.ts";
import { blocked, child, minute, now } from "../core/view/menu/fixture.ts";

/** As its machine sends it: it has had an event. */
const shop = (): Session => ({ ...blocked("shop", minute), newest: 1 });
const none = { at: 0, t: 0 };
const read = (session: object, answerable: Parameters<typeof readDescribedSession>[0]["answerable"] = []) =>
  readDescribedSession({ session: { ...session }, answerable }, "devbox", none, now);

const details = {
  kind: "permission" as const,
  tool: "Bash",
  heading: "Run a command",
  lines: ["npm test\u202e"],
  isWhole: true,
  dangers: [],
  always: [],
  questions: [],
};

describe("a described session", () => {
  test("belongs to the machine of its link, not to one that it names", () => {
    const session = shop();
    expect(read({ ...session, machine: "other", unreachableSince: 7 })?.session).toMatchObject({
      machine: "devbox",
      unreachableSince: null,
    });
  });

  test("is watched there, and has no path or command of this machine", () => {
    const place = { local: true, pid: 1, procStart: "1", tty: null, terminalSessionId: null, env: {} };
    const session = { ...shop(), place, transcriptPath: "/etc/passwd", attach: "rm x" };
    expect(read(session)?.session).toMatchObject({
      place: { local: false, pid: 1 },
      transcriptPath: null,
      attach: null,
    });
  });

  test("names no request of this machine, so that none is answered by mistake", () => {
    const session = shop();
    const asks = session.asks.map((ask) => ({ ...ask, request: "local-request" }));
    const mirrored = read({ ...session, asks });
    for (const { request } of mirrored?.session.asks ?? [])
      expect(isMirroredRequest(request ?? "")).toBe(true);
    expect(mirrored?.session.asks.map(answerIdOf)).not.toEqual(asks.map(answerIdOf));
  });

  test("has its exact text shown without invisible characters", () => {
    const session = shop();
    const [ask] = session.asks;
    const masked = { details: null, hasSecret: false };
    const mirrored = read(session, [{ id: ask?.id ?? "", answerId: "a", details, masked }]);
    const [found] = [...(mirrored?.answerable.values() ?? [])];
    expect(found?.details.lines.join()).not.toContain("\u202e");
  });

  test("reads no transcript of a subagent here", () => {
    const children = [child("a", { transcriptPath: "/etc/passwd" })];
    expect(read({ ...shop(), children })?.session.children).toMatchObject([{ transcriptPath: null }]);
  });

  test("keeps what its machine has made visible as it is: marks, continued rows, indents", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (typed) => {
        const lines = makeVisible(`⤷ first\n\tindented\n${typed}`).split("\n");
        lines.push("⤷ continued ", "\u{1f468}\u200d\u{1f469}");
        const session = shop();
        const masked = { details: null, hasSecret: false };
        const described = {
          id: session.asks[0]?.id ?? "",
          answerId: "a",
          details: { ...details, lines },
          masked,
        };
        const [found] = [...(read(session, [described])?.answerable.values() ?? [])];
        expect(found?.details.lines).toEqual(lines);
      }),
    );
  });

  test("shows questions, options and headings without what hides or reorders text", () => {
    const evil = "a\u202eb\u001b[31m\u0000c";
    const question = {
      header: evil,
      question: evil,
      options: [{ label: evil, description: evil }],
      isMultiple: false,
    };
    const session = shop();
    const masked = { details: null, hasSecret: false };
    const shown = {
      ...details,
      tool: evil,
      heading: evil,
      dangers: [evil],
      always: [evil],
      questions: [question],
    };
    const described = { id: session.asks[0]?.id ?? "", answerId: "a", details: shown, masked };
    const [found] = [...(read(session, [described])?.answerable.values() ?? [])];
    expect(JSON.stringify(found?.details)).not.toMatch(/[\u202e\p{Cc}]|\\u/u);
  });

  test("takes as much memory as it says, and nothing that beckon does not know", () => {
    const large = { ...shop(), more: "x".repeat(1_000_000), lastPrompt: "y".repeat(1_000_000) };
    const mirrored = read(large);
    expect(mirrored?.session).not.toHaveProperty("more");
    const length = JSON.stringify(mirrored?.session).length;
    expect(length).toBeLessThan(10_000);
    expect(mirrored?.size).toBeGreaterThan(length / 2);
  });

  test.each([
    ["a time after the end of all dates", { startedAt: 8.7e15 }],
    ["a time that is not finite when it is added", { last: { at: 1.7e308, t: 1 } }],
    ["a stamp of ten thousand years", { newest: 3e14 }],
    ["a clock that runs backwards", { startedAt: -1e15 }],
    ["an amount below nothing", { turnCount: -5 }],
    ["an amount that cannot be counted", { asksOpened: 1e300 }],
    ["the id of a test of this machine's doctor", { sessionId: "beckon-doctor-x" }],
    ["an id that moves the cursor", { sessionId: "a\u001b[2Jb" }],
    ["an id that reorders the line", { sessionId: "a\u202eb" }],
  ])("is refused with %s", (_, fields) => {
    expect(read({ ...shop(), ...fields })).toBeNull();
  });

  test.each([
    ["an agent whose name would end the key", { agent: "a:b" }],
    ["an agent whose name is a path", { agent: "../claude" }],
    ["no id", { sessionId: "" }],
    ["asks that are no list", { asks: "none" }],
    ["a time that is a text", { last: { at: "now", t: 1 } }],
  ])("is refused with %s", (_, fields) => {
    expect(read({ ...shop(), ...fields })).toBeNull();
  });

  test("of any content never throws, and is never one of this machine", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (more, asks) => {
        const mirrored = read({ ...shop(), ...more, asks });
        expect(mirrored === null || mirrored.session.machine === "devbox").toBe(true);
      }),
    );
  });
});

describe("clocks", () => {
  const ours = now;

  test("a machine that is two hours ahead has its moments here", () => {
    const theirs = { at: ours.at + 120 * minute, t: 99_000 };
    const shift = findClockShift(theirs, ours, null);
    const session = { ...shop(), stopped: theirs };
    const read = readDescribedSession({ session: { ...session }, answerable: [] }, "devbox", shift, ours);
    expect(read?.session.stopped).toEqual(ours);
  });

  test("a difference of less than two seconds counts as none, so that alerts keep their names", () => {
    expect(findClockShift({ at: ours.at - 1_500, t: 0 }, ours, null).at).toBe(0);
    const known = { at: 7_200_000, t: 0 };
    expect(findClockShift({ at: ours.at - 7_201_000, t: 0 }, ours, known).at).toBe(7_200_000);
    expect(findClockShift({ at: ours.at - 7_300_000, t: 0 }, ours, known).at).toBe(7_300_000);
    // The first link was slow.
    expect(findClockShift({ at: ours.at - 8, t: 0 }, ours, { at: 2_500 }).at).toBe(0);
  });
});

describe("a clock that is known", () => {
  const ours = { at: 1_790_000_000_000, t: 360_000_000 };
  const known = { at: 500 };

  test("stays as it is if what the machine says of it was on its way for seconds", () => {
    expect(findClockShift({ at: ours.at - 4_000, t: 0 }, ours, known).at).toBe(500);
    expect(findClockShift({ at: ours.at - 60_000, t: 0 }, ours, known).at).toBe(60_000);
    // Nothing can be on its way for less than no time.
    expect(findClockShift({ at: ours.at + 4_000, t: 0 }, ours, known).at).toBe(-4_000);
  });
});

describe("messages", () => {
  test("a kind that is not known is ignored, and a wrong one is explained", () => {
    expect(parseOwnerMessage('{"kind":"news","of":"tomorrow"}')).toBeNull();
    expect(parseOwnerMessage('{"kind":"gone","seq":1}')).toBe('a message "gone" is not valid at /agent');
    expect(parseOwnerMessage("[]")).toBe("a line is not a message");
    expect(parseOwnerMessage('{"kind":"constructor"}')).toBeNull();
  });

  test("are read as they were written", () => {
    const message: OwnerMessage = { kind: "gone", seq: 3, agent: "claude", sessionId: "a\nb" };
    expect(formatMessage(message).split("\n")).toHaveLength(2);
    expect(parseOwnerMessage(formatMessage(message).trimEnd())).toEqual(message);
  });
});
