import { expect, test } from "bun:test";
import { createReferences } from "../../src/channels/references.ts";
import { createResponseHandler, type ResponseHandlerOptions } from "../../src/channels/responses.ts";
import type { ChannelSettings } from "../../src/core/config/channels.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import { answerIdOf } from "../../src/core/session/keys.ts";
import type { Ask, Session } from "../../src/core/session/session.ts";
import { timing } from "../../src/core/timing.ts";
import { createStep } from "../core/answers/fixture.ts";

const ask = { id: "1", kind: "permission", request: "event-1" } as Ask;
const session = { agent: "claude", sessionId: "s1" } as Session;
const details = {
  kind: "permission",
  isWhole: true,
  dangers: ["becomes root (sudo)"],
  always: [],
  questions: [],
} as unknown as AskDetails;

const offers = [{ do: "allow" }, { do: "deny" }, { do: "text" }] as const;
/** The first of two taps was made a while ago. */
const confirmed = createStep("channel", { isConfirmed: true, shownMs: 5_000 });

function createFixture(more: Partial<ResponseHandlerOptions> = {}) {
  const references = createReferences(null, () => {});
  const answers: unknown[] = [];
  const refusals: string[] = [];
  const respond = createResponseHandler({
    name: "phone",
    service: { hasAccounts: true },
    settings: () => ({ accounts: ["1"] }) as unknown as ChannelSettings,
    isAnswering: () => true,
    isSending: () => false,
    sendPrompt: async () => "nothing is sent here",
    references,
    findAsk: () => ({ session, ask, details, offers, step: confirmed }),
    answer: async (_session, _id, answer, { by }) => {
      answers.push([answer, by]);
      return { answered: "allowed" } as never;
    },
    onConfirm: () => {},
    onTest: () => {},
    onRefused: (text) => refusals.push(text),
    schedule: () => () => {},
    ...more,
  });
  const create = (does: "allow" | "deny" | "text") =>
    references.create({ key: "k", answerId: answerIdOf(ask), meaning: { do: does } });
  const send = (reference: string, text: string | null = null) =>
    respond({ reference, account: "@joe", accountId: "1", text });
  return { allow: create("allow"), deny: create("deny"), text: create("text"), send, answers, refusals };
}

test("an answer that the agent cannot take leaves the buttons as they are", async () => {
  const noMessage = "Codex takes no message with a denial: deny it without one";
  const { deny, text, send } = createFixture({
    answer: async (_session, _id, answer) =>
      answer.do === "deny" && answer.message !== null ? noMessage : ({ answered: "denied" } as never),
  });
  expect(await send(text, "not on a Friday")).toEqual({
    text: `Not accepted: ${noMessage}.`,
    isAccepted: false,
  });
  expect(await send(deny)).toEqual({ text: "Denied.", isAccepted: true });
  expect((await send(deny)).isAccepted).toBe(false);
});

test("of two taps at once one counts, also if the first takes long", async () => {
  const { promise, resolve } = Promise.withResolvers<never>();
  const { allow, deny, send } = createFixture({ answer: () => promise });
  const first = send(allow);
  expect((await send(deny)).isAccepted).toBe(false);
  resolve({ answered: "allowed" } as never);
  expect((await first).isAccepted).toBe(true);
});

test("answers that are turned off while a tap waits for its hook are not taken", async () => {
  let isOn = true;
  let isConnected = false;
  const { allow, send, answers } = createFixture({
    isAnswering: () => isOn,
    findAsk: () => ({ session, ask, details: isConnected ? details : null, offers, step: confirmed }),
    schedule(work) {
      isOn = false;
      isConnected = true;
      work();
      return () => {};
    },
  });
  expect((await send(allow)).text).toContain("turned off");
  expect(answers).toEqual([]);
});

test("a double tap does not confirm what is dangerous, and the button still works a moment later", async () => {
  let shownMs = timing.minReadMs - 1;
  const {
    allow,
    deny,
    send: tap,
    answers,
    refusals,
  } = createFixture({
    findAsk: () => ({ session, ask, details, offers, step: { ...confirmed, shownMs } }),
  });
  expect(await tap(allow)).toEqual({
    text: "Not accepted: that was too quick: read it, then answer again.",
    isAccepted: false,
  });
  expect(answers).toEqual([]);
  expect(refusals).toEqual([
    "an answer by phone (@joe) was refused: that was too quick: read it, then answer again",
  ]);
  shownMs = timing.minReadMs;
  expect((await tap(allow)).isAccepted).toBe(true);
  expect(answers).toEqual([[{ do: "allow" }, "phone (@joe)"]]);
  expect((await tap(deny)).isAccepted).toBe(false);
});
