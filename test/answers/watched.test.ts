/** Requests that an agent's own server answers, without a hook that waits. */
import { beforeEach, expect, test } from "bun:test";
import { codex } from "../../src/agents/codex/index.ts";
import { createPendingRequests, type PendingRequests } from "../../src/answers/pending.ts";
import type { GivenAnswer } from "../../src/answers/pending-request.ts";
import { createInternalEvent } from "../../src/core/session/event.ts";
import { answerIdOf } from "../../src/core/session/keys.ts";
import type { Session } from "../../src/core/session/session.ts";
import { createStore } from "../../src/state/store.ts";
import { createStep } from "../core/answers/fixture.ts";

const payload = {
  method: "item/commandExecution/requestApproval",
  threadId: "s-1",
  command: "/bin/bash -lc 'npm publish'",
  cwd: "/p",
};

let sent: object[] = [];
let answered: GivenAnswer[] = [];
let isEnabled = true;
let isReachable = true;
let pending: PendingRequests;
let session: () => Session;
let release: () => void;

beforeEach(() => {
  sent = [];
  answered = [];
  isEnabled = true;
  isReachable = true;
  const store = createStore();
  const clock = () => ({ at: 1_790_000_000_000, t: 10_000, boot: "b", host: "h" });
  pending = createPendingRequests({
    maskJson: (json) => json,
    agents: new Map([["codex", codex]]),
    key: "key",
    home: "/home/me",
    clock,
    get: store.get,
    dispatch: store.dispatch,
    config: () => ({ answering: { enabled: isEnabled, autoAllow: {} } }),
    onAnswered: (answer) => answered.push(answer),
    onChange: () => {},
    onError(text) {
      throw new Error(text);
    },
  });
  store.subscribe((changed) => pending.follow(changed));
  const ask = {
    kind: "ask",
    ask: "permission",
    tool: "Bash",
    inputKey: "k",
    summary: "npm publish",
    options: [],
  };
  const about = { agent: "codex", sessionId: "s-1", cwd: "/p" };
  store.dispatch(createInternalEvent("asked-1", { at: 1_790_000_000_000, t: 1 }, about, ask as never));
  session = () => store.get({ agent: "codex", sessionId: "s-1" }) as Session;
  release = () => {};
});

function hold(command = payload.command): void {
  release = pending.addWatched("codex", {
    request: "asked-1",
    sessionId: "s-1",
    payload: { ...payload, command },
    send(decision) {
      if (isReachable) sent.push(decision);
      return isReachable;
    },
  });
}

const answerId = () => answerIdOf(session().asks[0] as Session["asks"][number]);

test("a request that asks for something else is not answered by what was shown before", async () => {
  hold();
  const id = answerId();
  release();
  pending.addWatched("codex", {
    request: "asked-1",
    sessionId: "s-1",
    payload: { ...payload, command: "curl evil.example" },
    send: (decision) => sent.push(decision) > 0,
  });
  expect(
    await pending.answer(
      session(),
      id,
      { do: "allow" },
      createStep("channel", { by: "phone", isConfirmed: true }),
    ),
  ).toMatchObject({ refused: 409 });
  expect(sent).toEqual([]);
  hold();
  expect(
    await pending.answer(
      session(),
      id,
      { do: "allow" },
      createStep("channel", { by: "phone", isConfirmed: true }),
    ),
  ).toMatchObject({ ok: true });
});

test("nor is one that has the same 32-bit hash as what was shown", async () => {
  const shownAs = JSON.stringify(
    codex.answering?.describe({ ...payload, command: "npm publish 1000000" }, { cwd: "/p" }),
  );
  const seen = new Map<number, string>();
  let found: readonly [string, string] | null = null;
  for (let n = 1_000_000; found === null && n < 2_000_000; n++) {
    const hash = Bun.hash.xxHash32(shownAs.replaceAll("1000000", String(n)));
    const other = seen.get(hash);
    if (other !== undefined) found = [other, `npm publish ${n}`];
    seen.set(hash, `npm publish ${n}`);
  }
  const [shown, other] = found ?? ["", ""];
  expect(shown).not.toBe("");
  hold(shown);
  const id = answerId();
  release();
  hold(other);
  expect(
    await pending.answer(
      session(),
      id,
      { do: "allow" },
      createStep("channel", { by: "phone", isConfirmed: true }),
    ),
  ).toMatchObject({ refused: 409 });
  expect(sent).toEqual([]);
});

test("the whole command is shown, and the answer goes to the server once", async () => {
  hold();
  const [ask] = session().asks;
  expect(ask && pending.details(ask)).toMatchObject({ lines: ["npm publish"], isWhole: true });
  const id = answerId();
  expect(
    await pending.answer(session(), id, { do: "allow" }, createStep("menu", { isConfirmed: true })),
  ).toEqual({
    ok: true,
    answered: "allowed",
  });
  expect(sent).toEqual([{ decision: "accept" }]);
  expect(session().asks).toEqual([]);
  expect(answered).toMatchObject([{ how: "allowed", by: "menu" }]);
  expect(
    await pending.answer(
      session(),
      id,
      { do: "deny", message: null },
      createStep("menu", { isConfirmed: true }),
    ),
  ).toMatchObject({
    refused: 409,
  });
  expect(sent).toHaveLength(1);
});

test("after the server has the answer from the terminal, beckon's comes too late", async () => {
  hold();
  release();
  const result = await pending.answer(
    session(),
    answerId(),
    { do: "allow" },
    createStep("menu", { isConfirmed: true }),
  );
  expect(result).toMatchObject({ refused: 409, error: expect.stringContaining("shared server") });
  expect(sent).toEqual([]);
});

test("an answer that does not reach the server is not shown as given", async () => {
  hold();
  isReachable = false;
  const result = await pending.answer(
    session(),
    answerId(),
    { do: "allow" },
    createStep("menu", { isConfirmed: true }),
  );
  expect(result).toMatchObject({ refused: 409, error: expect.stringContaining("may not have arrived") });
  expect(answered).toEqual([]);
});

test("nothing can be answered while answering is turned off", async () => {
  isEnabled = false;
  hold();
  expect(
    await pending.answer(session(), answerId(), { do: "allow" }, createStep("menu", { isConfirmed: true })),
  ).toMatchObject({
    refused: 409,
  });
  expect(sent).toEqual([]);
});
