import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createInternalEvent } from "../../src/core/session/event.ts";
import type { Session } from "../../src/core/session/session.ts";
import { sessionKeyOf } from "../../src/core/session/session-ref.ts";
import { createPrompts, type PromptsOptions } from "../../src/prompts/index.ts";
import {
  findTextProblem,
  isReceiptOf,
  type NewPrompt,
  type Prompt,
  readPrompts,
} from "../../src/prompts/prompt.ts";
import { ask, blocked, done, working } from "../core/view/menu/fixture.ts";
import { createVirtualTime, settle } from "../virtual-time.ts";

const second = 1_000;

function openWorld(first: Session, parts: Partial<PromptsOptions> = {}) {
  const time = createVirtualTime();
  const moved = () => ({ moved: time.clock() });
  let session: Session | null = { ...first, ...moved() };
  const sent: string[] = [];
  const ended: string[] = [];
  let file: readonly Prompt[] = [];
  const create = (saved: readonly Prompt[] = []) =>
    createPrompts({
      clock: time.clock,
      get: () => session,
      findObstacle: () => null,
      send: async (_, text) => void sent.push(text),
      saved,
      save: (prompts) => {
        file = JSON.parse(JSON.stringify(prompts));
      },
      onEnded: ({ text, state }) => ended.push(`${text}: ${state}`),
      onChange() {},
      schedule: time.schedule,
      onProblem() {},
      ...parts,
    });
  let prompts = create();
  const prompt = (text: string, more: Partial<NewPrompt> = {}) =>
    prompts.add(session ?? first, {
      id: randomBytes(4).toString("hex"),
      text,
      by: "test",
      isNow: false,
      notBefore: null,
      waitsForQuota: false,
      ...more,
    });
  const report = (text: string) => {
    const { agent, sessionId } = first;
    const change = { kind: "prompt", text, byMachine: false } as const;
    const event = createInternalEvent(`e${Math.random()}`, time.clock(), { agent, sessionId }, change);
    if (session) prompts.onChange?.({ session, event, before: null });
  };
  return {
    time,
    sent,
    ended,
    prompt,
    report,
    prompts: () => prompts,
    states: () => prompts.list().map(({ text, state }) => `${text}: ${state}`),
    says: () => prompts.list().map(({ says }) => says),
    become(next: Session | null) {
      session = next && { ...next, ...moved() };
      const { agent, sessionId } = first;
      const event = createInternalEvent("b", time.clock(), { agent, sessionId }, { kind: "no-change" });
      if (session) prompts.onChange?.({ session, event, before: null });
    },
    /** As after kill -9: a new app reads what the file has. */
    restart() {
      prompts.stop?.();
      prompts = create(readPrompts(file));
    },
  };
}

const idle = done("shop", 60 * second);
const busy = working("shop", 60 * second);

describe("a prompt", () => {
  test("is sent once to an idle session, and is delivered when the agent reports it", async () => {
    const { time, prompt, report, sent, states, ended } = openWorld(idle);
    expect(prompt("do it")).toMatchObject({ state: "queued", says: "sent in a moment" });
    await time.advance(second);
    expect([sent, states()]).toEqual([["do it"], ["do it: sent"]]);
    report("something else");
    report("do it");
    await time.advance(second);
    expect([sent, states(), ended]).toEqual([["do it"], ["do it: delivered"], ["do it: delivered"]]);
    await time.advance(70 * second);
    expect(states()).toEqual([]);
  });

  test("waits for the turn and for the user's answer, and those after it wait for its receipt", async () => {
    const { time, prompt, report, become, sent, says } = openWorld(busy);
    prompt("first");
    prompt("second");
    expect(says()).toEqual(["it works: sent when this turn ends", "after the one before it"]);
    become(blocked("shop", second));
    await time.advance(5 * second);
    expect([sent, says()[0]]).toEqual([[], "it asks you something: answer that first"]);
    become(idle);
    await time.advance(2 * second);
    expect(sent).toEqual(["first"]);
    report("first");
    await time.advance(2 * second);
    expect(sent).toEqual(["first", "second"]);
  });

  test("that is meant for now is refused while something is asked, and queued otherwise", () => {
    expect(openWorld(blocked("shop", second)).prompt("x", { isNow: true })).toContain(
      "it asks you something",
    );
    expect(openWorld(busy).prompt("x", { isNow: true })).toMatchObject({ state: "queued" });
  });

  test("that the agent does not report is not taken, keeps those after it waiting, and can be tried again", async () => {
    const { time, prompt, prompts, report, sent, states } = openWorld(idle);
    prompt("first");
    prompt("second");
    await time.advance(20 * second);
    expect([sent, states()]).toEqual([["first"], ["first: not taken", "second: queued"]]);
    const [first] = prompts().list();
    prompts().change(first?.id ?? "", "first, again");
    await time.advance(second);
    report("first, again");
    await time.advance(2 * second);
    expect(sent).toEqual(["first", "first, again", "second"]);
  });

  test("that the agent reports late is delivered, and is not sent again", async () => {
    const { time, prompt, report, sent, states } = openWorld(idle);
    prompt("first");
    prompt("second");
    await time.advance(20 * second);
    expect(states()).toEqual(["first: not taken", "second: queued"]);
    report("first");
    await time.advance(2 * second);
    expect([sent, states()[0]]).toEqual([["first", "second"], "first: delivered"]);
  });

  test("that cannot be handed over says why", async () => {
    const send = () => Promise.reject(new Error("its inbox does not answer"));
    const { time, prompt, prompts, says, states } = openWorld(idle, { send });
    prompt("x");
    await time.advance(second);
    await settle();
    expect([states(), says()]).toEqual([["x: not taken"], ["its inbox does not answer"]]);
    expect(prompts().remove(prompts().list()[0]?.id ?? "")).toMatchObject({ text: "x" });
    expect(prompts().list()).toEqual([]);
  });

  test("is not sent before its time, or while the quota is used up", async () => {
    const late = openWorld(idle);
    late.prompt("later", { notBefore: late.time.clock().at + 600 * second });
    await late.time.advance(599 * second);
    expect(late.sent).toEqual([]);
    await late.time.advance(2 * second);
    expect(late.sent).toEqual(["later"]);

    const full = openWorld(idle);
    const fiveHour = { usedPercent: 100, resetsAt: full.time.clock().at + 600 * second };
    full.become({ ...idle, rateLimits: { fiveHour, sevenDay: null } });
    full.prompt("go on", { waitsForQuota: true });
    await full.time.advance(599 * second);
    expect([full.sent, full.says()[0]]).toEqual([[], expect.stringContaining("when the limit is reset at")]);
    await full.time.advance(2 * second);
    expect(full.sent).toEqual(["go on"]);
  });

  test("is refused for a session that has ended or takes none, also if it waited", async () => {
    const { time, prompt, become, states } = openWorld(busy);
    prompt("x");
    become({ ...idle, ended: { ...idle.last, reason: "other", whileBusy: false } });
    await time.advance(second);
    expect(states()).toEqual(["x: not taken"]);
    expect(prompt("y")).toBe("the session has ended");
    expect(openWorld(idle, { findObstacle: () => "it takes none" }).prompt("z")).toBe("it takes none");
  });
});

describe("after kill -9", () => {
  test("what waited is sent", async () => {
    const { time, prompt, restart, become, sent } = openWorld(busy);
    prompt("x");
    restart();
    become(idle);
    await time.advance(2 * second);
    expect(sent).toEqual(["x"]);
  });

  test("what was sent is not sent again: a late receipt delivers it, otherwise it is unknown", async () => {
    const { time, prompt, restart, report, sent, states } = openWorld(idle);
    prompt("x");
    await time.advance(second);
    restart();
    await time.advance(20 * second);
    expect([sent, states()]).toEqual([["x"], ["x: unknown"]]);
    report("x");
    expect(states()).toEqual(["x: delivered"]);
  });

  test("a request of another machine that comes again is not sent again", async () => {
    const { time, prompt, restart, report, sent } = openWorld(idle);
    const id = "0000beef";
    prompt("x", { id });
    await time.advance(second);
    prompt("x", { id });
    restart();
    prompt("x", { id });
    report("x");
    prompt("x", { id });
    await time.advance(5 * second);
    expect(sent).toEqual(["x"]);
  });

  test("a file with anything in it is read as far as it is valid", () => {
    expect(readPrompts([1, null, {}, { id: "1" }])).toEqual([]);
    expect(readPrompts("x")).toEqual([]);
  });
});

test("a prompt that cannot be written down is not sent", async () => {
  const problems: string[] = [];
  let isFull = false;
  const save = () => {
    if (isFull) throw new Error("ENOSPC");
  };
  const { time, prompt, report, sent, states } = openWorld(idle, {
    save,
    onProblem: (text) => problems.push(text),
  });
  prompt("x");
  isFull = true;
  await time.advance(second);
  expect([sent, problems]).toEqual([[], [expect.stringContaining("ENOSPC")]]);
  expect(prompt("y")).toBe("it could not be written down: ENOSPC");
  isFull = false;
  await time.advance(20 * second);
  expect(sent).toEqual(["x"]);
  // Its receipt counts also on a full disk: it must not seem lost and be sent again by the user.
  isFull = true;
  report("x");
  expect(states()).toEqual(["x: delivered"]);
});

test("an open dialog that only the agent's file reports counts as asked", async () => {
  const file = { status: "waiting", waitingFor: "dialog", at: 0, t: 0 } as const;
  const { time, prompt, sent } = openWorld({ ...idle, file });
  prompt("x");
  await time.advance(5 * second);
  expect(sent).toEqual([]);
  const hidden = openWorld({ ...idle, asks: [ask(second, { hidden: true })] });
  hidden.prompt("x");
  await hidden.time.advance(5 * second);
  expect(hidden.sent).toEqual(["x"]);
});

test("a receipt may be cut or spaced otherwise, and is not another prompt", () => {
  expect(["do this", " do\n this ", "do th…"].map((text) => isReceiptOf(text, "do this"))).toEqual([
    true,
    true,
    true,
  ]);
  expect(["", "do that", "do this too", "…"].map((text) => isReceiptOf(text, "do this"))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test("text with control characters, empty text and too long text is refused", () => {
  expect(
    ["a\u001b[2J", "\u001b[201~", "a\u009b201~", "a\rb", "  ", "x".repeat(100_001), 7].map(
      (text) => findTextProblem(text) === null,
    ),
  ).toEqual([false, false, false, false, false, false, false]);
  expect(["a\n\tb", "a\r\nb", "ä 🙂"].map(findTextProblem)).toEqual([null, null, null]);
});

test("no more than twenty wait for a session", () => {
  const { prompt } = openWorld(busy);
  const results = Array.from({ length: 21 }, (_, n) => prompt(`p${n}`));
  expect(results.filter((result) => typeof result === "string")).toEqual([
    "20 prompts wait for this session already",
  ]);
  expect(sessionKeyOf(busy)).toStartWith("claude:");
});
