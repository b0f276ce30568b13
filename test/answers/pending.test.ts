/** Nothing answers a request except the user or one of their rules. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decide } from "../../src/agents/claude/answering/decide.ts";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { createOtherChanges } from "../../src/answers/other-changes.ts";
import { createPendingRequests, type PendingRequests } from "../../src/answers/pending.ts";
import type { GivenAnswer } from "../../src/answers/pending-request.ts";
import { waitMessage } from "../../src/core/answers/words.ts";
import type { Config } from "../../src/core/config/config.ts";
import type { HookConnection } from "../../src/core/interfaces/index.ts";
import { limits } from "../../src/core/limits.ts";
import type { Answer } from "../../src/core/session/ask-details.ts";
import { type Change, createInternalEvent } from "../../src/core/session/event.ts";
import { answerIdOf } from "../../src/core/session/keys.ts";
import { timing } from "../../src/core/timing.ts";
import { createStore } from "../../src/state/store.ts";
import { verifyDecision } from "../../src/system/decision-signature.ts";
import { createStep } from "../core/answers/fixture.ts";
import { waitUntil } from "../wait-until.ts";

const key = "key of this start";

/** A forwarder's connection, which records what is sent to it. */
function createHook(
  fixture: ReturnType<typeof createPendingFixture>,
  payload: Record<string, unknown>,
  meta: object,
) {
  const id = crypto.randomUUID();
  const envelope = JSON.stringify({ provider: "claude", _meta: { id, ...meta }, payload });
  const sent: string[] = [];
  let isOpen = false;
  let closed: () => void = () => {};
  const hook = {
    id,
    payload,
    sent,
    isOpen: () => isOpen,
    /** Whether it no longer confirms a decision. */
    isSilent: false,
    hold(): void {
      isOpen = true;
      const connection: HookConnection = {
        send(text) {
          if (!isOpen) return false;
          const line = text.trim();
          if (line !== "") sent.push(line === "{}" ? line : (verifyDecision(key, id, line) ?? "not proved"));
          if (text.trim() !== "" && text.trim() !== "{}" && !hook.isSilent)
            queueMicrotask(() => fixture.pending().end(id, "printed"));
          return true;
        },
        close: () => hook.leave(),
        onClosed(listener) {
          closed = listener;
        },
      };
      fixture.pending().add(envelope, connection);
    },
    leave(): void {
      if (!isOpen) return;
      isOpen = false;
      closed();
    },
  };
  return hook;
}

function createPendingFixture(
  autoAllow: Config["answering"]["autoAllow"] = {},
  otherChanges = createOtherChanges(() => ({ t: 0 })),
) {
  const store = createStore();
  const here = { at: 1_790_000_000_000, t: 0, boot: "b", host: "h" };
  const clock = () => ({ ...here });
  const verdicts: GivenAnswer[] = [];
  const scheduled: (() => void)[] = [];
  const answering = { enabled: true, autoAllow };
  let count = 0;
  const open = (): PendingRequests =>
    createPendingRequests({
      maskJson: (json) => json,
      agents: new Map([["claude", claude]]),
      key,
      home: "/home/me",
      clock,
      get: store.get,
      dispatch: store.dispatch,
      config: () => ({ answering }),
      otherChanges,
      onAnswered: (verdict) => verdicts.push(verdict),
      schedule(work) {
        scheduled.push(work);
        return () => {};
      },
      onChange: () => {},
      onError(text) {
        throw new Error(text);
      },
      confirmMs: 1,
    });
  let pending = open();
  store.subscribe((session) => pending.follow(session));

  return {
    store,
    verdicts,
    scheduled,
    answering,
    pending: () => pending,
    sessions: () => store.sessions(here),
    pass(ms: number): void {
      here.at += ms;
      here.t += ms;
      pending.recheck();
    },
    event(payload: Record<string, unknown>, meta: Record<string, unknown> = {}): void {
      here.t += 1;
      const id = typeof meta.id === "string" ? meta.id : `e-${++count}`;
      const hook = openEnvelope({ provider: "claude", _meta: meta, payload }, "claude", "h");
      const event = hook && claude.translate(hook, { ...here, id, key: `k-${++count}` });
      if (event) store.dispatch(event);
    },
    own(sessionId: string, change: Change): void {
      here.t += 1;
      store.dispatch(createInternalEvent(`own-${++count}`, here, { agent: "claude", sessionId }, change));
    },
    restart(): void {
      pending.stop();
      pending = open();
    },
    find(request: string) {
      for (const session of store.sessions(here)) {
        const ask = session.asks.find((candidate) => candidate.request === request);
        if (ask) return { session, ask };
      }
      return null;
    },
  };
}

const request = (session: string, more: object = {}) => ({
  session_id: session,
  hook_event_name: "PermissionRequest",
  cwd: "/p",
  tool_name: "Bash",
  tool_input: { command: "npm test" },
  ...more,
});

type Step =
  | { do: "ask"; session: number; command: number; agent: boolean; attended: boolean | null }
  | { do: "event"; session: number; name: string }
  | { do: "file"; session: number; status: "idle" | "busy" | "waiting" | "shell" }
  | { do: "gone"; session: number }
  | { do: "pass"; ms: number }
  | { do: "restart" }
  | { do: "return"; nth: number }
  | { do: "leave"; nth: number }
  | { do: "stop"; nth: number }
  | { do: "confirm"; nth: number }
  | { do: "silence"; nth: number }
  | { do: "turn-off" | "turn-on" }
  | { do: "answer"; nth: number; with: number };

const small = fc.nat({ max: 2 });
const nth = fc.nat({ max: 12 });
const asking: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("ask" as const),
  session: small,
  command: small,
  agent: fc.constantFrom(false, false, true),
  attended: fc.constantFrom(true, true, true, null, false),
});
const quiet: fc.Arbitrary<Step>[] = [
  asking,
  asking,
  asking,
  fc.record({
    do: fc.constant("event" as const),
    session: small,
    name: fc.constantFrom(
      "PreToolUse",
      "PostToolUse",
      "PostToolBatch",
      "Stop",
      "SessionEnd",
      "UserPromptSubmit",
    ),
  }),
  fc.record({
    do: fc.constant("file" as const),
    session: small,
    status: fc.constantFrom("idle" as const, "busy" as const, "waiting" as const, "shell" as const),
  }),
  fc.record({ do: fc.constant("gone" as const), session: small }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 50, 350, 1_100, 60_000, 4_000_000) }),
  fc.record({ do: fc.constantFrom("restart" as const, "turn-off" as const, "turn-on" as const) }),
  fc.record({
    do: fc.constantFrom(
      "return" as const,
      "leave" as const,
      "stop" as const,
      "confirm" as const,
      "silence" as const,
    ),
    nth,
  }),
];
const answering: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("answer" as const),
  nth,
  with: fc.nat({ max: 3 }),
});
const api = createStep("API", { by: "test", isConfirmed: true });
const answers: readonly Answer[] = [
  { do: "allow" },
  { do: "deny", message: null },
  { do: "deny", message: "no" },
  { do: "always", choice: 0 },
];

async function runSteps(steps: readonly Step[]) {
  const fixture = createPendingFixture();
  const hooks: ReturnType<typeof createHook>[] = [];
  /** The decisions that each request accepted, by its id. */
  const decisions = new Map<string, string[]>();
  const hookAt = (n: number) => hooks[n % Math.max(1, hooks.length)];
  for (const step of steps) {
    switch (step.do) {
      case "ask": {
        const more = step.agent ? { agent_id: "a1" } : {};
        const payload = request(`s-${step.session}`, {
          ...more,
          tool_input: { command: `c-${step.command}` },
        });
        const hook = createHook(fixture, payload, step.attended === null ? {} : { attended: step.attended });
        hooks.push(hook);
        fixture.event(payload, { id: hook.id, attended: step.attended });
        hook.hold();
        break;
      }
      case "event": {
        const call = { tool_name: "Bash", tool_input: { command: "c-1" }, tool_use_id: "toolu_1" };
        fixture.event({ session_id: `s-${step.session}`, cwd: "/p", hook_event_name: step.name, ...call });
        break;
      }
      case "file":
        fixture.own(`s-${step.session}`, {
          kind: "status",
          status: step.status,
          waitingFor: step.status === "waiting" ? "permission" : null,
          title: null,
        });
        break;
      case "gone":
        fixture.own(`s-${step.session}`, { kind: "gone", why: "process" });
        break;
      case "pass":
        fixture.pass(step.ms);
        break;
      case "restart":
        fixture.restart();
        break;
      case "turn-off":
      case "turn-on":
        fixture.answering.enabled = step.do === "turn-on";
        fixture.pending().recheck();
        break;
      case "return": {
        const hook = hookAt(step.nth);
        if (hook && !hook.isOpen() && hook.sent.length === 0) hook.hold();
        break;
      }
      case "leave":
        hookAt(step.nth)?.leave();
        break;
      case "stop":
        fixture.pending().end(hookAt(step.nth)?.id ?? "", "stopped");
        break;
      case "confirm":
        fixture.pending().end(hookAt(step.nth)?.id ?? "", "printed");
        break;
      case "silence": {
        const hook = hookAt(step.nth);
        if (hook) hook.isSilent = true;
        break;
      }
      case "answer": {
        const hook = hookAt(step.nth);
        const found = hook && fixture.find(hook.id);
        const answer = answers[step.with] as Answer;
        if (!hook || !found) break;
        const before = hook.sent.length;
        await fixture.pending().answer(found.session, answerIdOf(found.ask), answer, api);
        if (hook.sent.length > before) {
          const decision = JSON.stringify(decide(hook.payload, answer));
          decisions.set(hook.id, [...(decisions.get(hook.id) ?? []), decision]);
        }
        break;
      }
    }
  }
  fixture.pending().stop();
  return { hooks, decisions, fixture };
}

describe("whatever happens, in whatever order", () => {
  test("without an answer every hook gets nothing or {}", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(...quiet), { minLength: 10, maxLength: 60 }), async (steps) => {
        const { hooks, fixture } = await runSteps(steps);
        for (const { sent } of hooks) expect(sent.filter((text) => text !== "{}")).toEqual([]);
        expect(fixture.verdicts.filter(({ by }) => by !== "in the terminal")).toEqual([]);
      }),
      { numRuns: 400 },
    );
  });

  test("each answered hook gets exactly its decision, once", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(...quiet, answering, answering, answering), { minLength: 10, maxLength: 60 }),
        async (steps) => {
          const { hooks, decisions, fixture } = await runSteps(steps);
          for (const { id, sent, payload } of hooks) {
            const received = sent.filter((text) => text !== "{}");
            expect(received).toEqual(decisions.get(id) ?? []);
            expect(new Set(received).size).toBe(received.length);
            if ("agent_id" in payload) expect(received).toEqual([]);
          }
          answered += fixture.verdicts.length;
          for (const verdict of fixture.verdicts) {
            if (verdict.by === "in the terminal") continue;
            expect(decisions.has(verdict.ask.request ?? "")).toBe(true);
          }
        },
      ),
      { numRuns: 400 },
    );
    // Otherwise the test would prove nothing.
    expect(answered).toBeGreaterThan(100);
  });
});

describe("a build folder of the project that is named by ~", () => {
  test.each([
    ["on this machine it is in the project", "h", []],
    [
      "on another machine ~ is unknown",
      "other",
      ["deletes without asking (rm -rf)", "deletes outside the project (~/p/build)"],
    ],
  ])("%s", (_, host, dangers) => {
    const fixture = createPendingFixture();
    const payload = request("s-0", { cwd: "/home/me/p", tool_input: { command: "rm -rf ~/p/build" } });
    const hook = createHook(fixture, payload, { host });
    fixture.event(payload, { id: hook.id, host, tty: "/dev/pts/1" });
    hook.hold();
    const ask = fixture.find(hook.id)?.ask;
    expect(ask && fixture.pending().details(ask)?.dangers).toEqual(dangers);
    fixture.pending().stop();
  });
});

describe("answer ids", () => {
  test("an old answer id never means another dialog, even after a late event reorders them", async () => {
    const fixture = createPendingFixture();
    const later = createHook(fixture, request("s-0", { tool_input: { command: "rm -r x" } }), {});
    fixture.pass(1_000);
    fixture.event(later.payload, { id: later.id });
    later.hold();
    const found = fixture.find(later.id);
    const name = found ? answerIdOf(found.ask) : "";
    const earlier = createHook(fixture, request("s-0"), {});
    fixture.pass(-500);
    fixture.event(earlier.payload, { id: earlier.id });
    fixture.pass(600);
    earlier.hold();
    const [first] = found ? (fixture.store.get({ agent: "claude", sessionId: "s-0" })?.asks ?? []) : [];
    // The order of the two has changed.
    expect(first?.request).toBe(earlier.id);
    const session = fixture.store.get({ agent: "claude", sessionId: "s-0" });
    if (!session) throw new Error("no session");
    expect(await fixture.pending().answer(session, name, { do: "allow" }, api)).toMatchObject({
      refused: 409,
    });
    expect([later.sent, earlier.sent]).toEqual([[], []]);
    fixture.pending().stop();
  });
});

test('"No" in the terminal while an answer is on its way: the answer is refused and the ask is over', async () => {
  const fixture = createPendingFixture();
  const hook = createHook(fixture, request("s-0"), {});
  fixture.event(hook.payload, { id: hook.id });
  hook.hold();
  hook.isSilent = true;
  const found = fixture.find(hook.id);
  if (!found) throw new Error("no ask");
  const answered = fixture.pending().answer(found.session, answerIdOf(found.ask), { do: "allow" }, api);
  fixture.pending().end(hook.id, "stopped");
  expect(await answered).toMatchObject({ refused: 409 });
  expect(fixture.find(hook.id)).toBeNull();
  expect(fixture.verdicts).toMatchObject([{ by: "in the terminal" }]);
  fixture.pending().stop();
});

describe("rules", () => {
  test.each([
    ["what matches is allowed, and the rule is named", "ls src", [{ outcome: "allowed" }]],
    ["what does not match waits", "git status", []],
    ["what is dangerous waits, whatever the rule says", "ls; rm -rf ~", []],
  ])("%s", async (_, command, expected) => {
    const fixture = createPendingFixture({ "/p": ["Bash(ls *)", "Bash(ls)"] });
    const hook = createHook(fixture, request("s-0", { tool_input: { command } }), {});
    // Rules are checked in the order of the requests, so the first is decided once the second is allowed.
    const next = createHook(fixture, request("s-1", { tool_input: { command: "ls src" } }), {});
    for (const { id, payload, hold } of [hook, next]) {
      fixture.event(payload, { id });
      hold();
    }
    const verdictsOf = (id: string) => fixture.verdicts.filter(({ session }) => session.sessionId === id);
    await waitUntil(() => verdictsOf("s-1").length > 0, 2_000);
    expect(verdictsOf("s-0")).toMatchObject(expected);
    for (const { by } of fixture.verdicts) expect(by).toBe("rule Bash(ls *)");
    expect(hook.isOpen()).toBe(expected.length === 0);
    fixture.pending().stop();
  });

  test("a rule answers nothing in a container, where the same path is another folder", async () => {
    const fixture = createPendingFixture({ "/p": ["Bash(ls *)"] });
    const holdIn = (session: string, host: string) => {
      const meta = { host, pid: 7 };
      const hook = createHook(fixture, request(session, { tool_input: { command: "ls src" } }), meta);
      fixture.event(hook.payload, { id: hook.id, ...meta });
      hook.hold();
      return hook;
    };
    const inside = holdIn("s-0", "container");
    holdIn("s-1", "h");
    await waitUntil(() => fixture.verdicts.length > 0, 2_000);
    expect(fixture.verdicts.map(({ session }) => session.sessionId)).toEqual(["s-1"]);
    expect(inside.isOpen()).toBe(true);
    fixture.pending().stop();
  });

  test("an ask that a rule answers is never shown, and one that it cannot answer is", async () => {
    const fixture = createPendingFixture({ "/p": ["Bash(ls *)"] });
    const shownAsks = () =>
      fixture
        .pending()
        .withoutAnswering(fixture.sessions())
        .flatMap(({ asks }) => asks);
    const hook = createHook(fixture, request("s-0", { tool_input: { command: "ls src" } }), {});
    fixture.event(hook.payload, { id: hook.id });
    hook.hold();
    expect(fixture.sessions().flatMap(({ asks }) => asks)).toHaveLength(1);
    expect(shownAsks()).toEqual([]);
    await waitUntil(() => fixture.verdicts.length > 0, 2_000);
    const other = createHook(fixture, request("s-1", { tool_input: { command: "make" } }), {});
    fixture.event(other.payload, { id: other.id });
    other.hold();
    expect(shownAsks()).toHaveLength(1);
    fixture.pending().stop();
  });
});

test.each([
  ["a rule that may answer it: the hook's request first", { "/p": ["Bash(ls *)"] }, true, false],
  ["no rule: at once", {}, false, false],
  ["a rule, if a reminder reports it", { "/p": ["Bash(ls *)"] }, true, true],
])("a dialog that only the status file reports is shown with %s", (_, autoAllow, isHidden, isReminder) => {
  const reminder = { notification_type: "permission_prompt", message: "Claude needs your permission" };
  const fixture = createPendingFixture(autoAllow);
  const shownAsks = () =>
    fixture
      .pending()
      .withoutAnswering(fixture.sessions())
      .flatMap(({ asks }) => asks);
  fixture.event({ session_id: "s-0", hook_event_name: "UserPromptSubmit", cwd: "/p", prompt: "go" });
  if (isReminder) fixture.event({ session_id: "s-0", hook_event_name: "Notification", ...reminder });
  else fixture.own("s-0", { kind: "status", status: "waiting", waitingFor: "permission", title: null });
  expect(fixture.sessions().flatMap(({ asks }) => asks)).toHaveLength(1);
  expect(shownAsks()).toHaveLength(isHidden ? 0 : 1);
  fixture.pass(timing.ruleGapMs);
  expect(shownAsks()).toHaveLength(1);
  // If no hook comes, it is shown without another event.
  expect(fixture.scheduled.length).toBe(isHidden ? 1 : 0);
  fixture.pending().stop();
});

test("an edit of a file that another session changes shows that change, and a denial without words means: wait", async () => {
  const now = { t: 0 };
  const otherChanges = createOtherChanges(() => now);
  const fixture = createPendingFixture({}, otherChanges);
  const lines = ["⟨not committed, changed by codex in shop⟩", "⟨line 2⟩", "- two", "+ 2"];
  otherChanges.set({ agent: "claude", sessionId: "s-0" }, "/p/a.ts", lines);
  const hold = (session: string) => {
    const edit = { file_path: "/p/a.ts", old_string: "one", new_string: "1" };
    const hook = createHook(fixture, request(session, { tool_name: "Edit", tool_input: edit }), {});
    fixture.event(hook.payload, { id: hook.id });
    hook.hold();
    return hook;
  };
  const alone = hold("s-1");
  const hook = hold("s-0");
  const detailsOf = ({ id }: { id: string }) => {
    const ask = fixture.find(id)?.ask;
    return ask ? fixture.pending().details(ask) : null;
  };
  expect(detailsOf(alone)?.otherChangesAt).toBeUndefined();
  const details = detailsOf(hook);
  expect(details?.lines).toEqual(["- one", "+ 1", ...lines]);
  expect(details).toMatchObject({ otherChangesAt: 2, isWhole: true });

  for (const { id } of [alone, hook]) {
    const found = fixture.find(id);
    if (!found) throw new Error("no ask");
    const answered = fixture
      .pending()
      .answer(found.session, answerIdOf(found.ask), { do: "deny", message: null }, createStep("menu"));
    expect(await answered).toMatchObject({ ok: true });
  }
  expect(hook.sent.join()).toContain(waitMessage);
  expect(alone.sent.join()).not.toContain(waitMessage);
  now.t += 61_000;
  // The setting may be off by then, so nothing says any more what others have changed since.
  expect(detailsOf(hold("s-0"))?.otherChangesAt).toBeUndefined();
  fixture.pending().stop();
});

describe("the limit", () => {
  test(`no more than ${limits.maxPendingRequests} requests wait, and the next is released`, () => {
    const fixture = createPendingFixture();
    const hooks = Array.from({ length: limits.maxPendingRequests + 5 }, (_, n) => {
      const hook = createHook(fixture, request(`s-${n}`), {});
      fixture.event(hook.payload, { id: hook.id });
      hook.hold();
      return hook;
    });
    expect(hooks.filter((hook) => hook.isOpen())).toHaveLength(limits.maxPendingRequests);
    expect(hooks.at(-1)?.sent).toEqual(["{}"]);
    fixture.pending().stop();
  });
});
