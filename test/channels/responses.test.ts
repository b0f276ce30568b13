import { expect, test } from "bun:test";
import { createReferences } from "../../src/channels/references.ts";
import { createResponseHandler } from "../../src/channels/responses.ts";
import type { ChannelSettings } from "../../src/core/config/channels.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import { answerIdOf } from "../../src/core/session/keys.ts";
import type { Ask, Session } from "../../src/core/session/session.ts";

const ask = { id: "1", kind: "permission", request: "event-1" } as Ask;
const session = { agent: "claude", sessionId: "s1" } as Session;
const details = {
  kind: "permission",
  dangers: ["becomes root (sudo)"],
  questions: [],
} as unknown as AskDetails;

test("a double tap does not confirm what is dangerous, and the button still works a moment later", async () => {
  const references = createReferences(null, () => {});
  const answers: unknown[] = [];
  const refusals: string[] = [];
  let isJustConfirmed = true;
  const respond = createResponseHandler({
    name: "phone",
    service: { hasAccounts: true },
    settings: () => ({ accounts: ["1"] }) as unknown as ChannelSettings,
    isAnswering: () => true,
    references,
    findAsk: () => ({ session, ask, details, offers: [{ do: "allow" }, { do: "deny" }] }),
    answer: async (_session, _id, answer, by) => {
      answers.push([answer, by]);
      return { answered: "allowed" } as never;
    },
    onConfirm: () => {},
    wasJustConfirmed: () => isJustConfirmed,
    onTest: () => {},
    onRefused: (text) => refusals.push(text),
    schedule: () => () => {},
  });
  const create = (meaning: { do: "allow" } | { do: "deny" }) =>
    references.create({ key: "k", answerId: answerIdOf(ask), meaning });
  const [allow, deny] = [create({ do: "allow" }), create({ do: "deny" })];
  const tap = (reference: string) => respond({ reference, account: "@joe", accountId: "1", text: null });
  expect(await tap(allow)).toEqual({
    text: "Not accepted: that was too quick: read it, then tap again.",
    isAccepted: false,
  });
  expect(answers).toEqual([]);
  expect(refusals).toEqual([
    "an answer by phone (@joe) was refused: that was too quick: read it, then tap again",
  ]);
  isJustConfirmed = false;
  expect((await tap(allow)).isAccepted).toBe(true);
  expect(answers).toEqual([[{ do: "allow" }, "phone (@joe)"]]);
  expect((await tap(deny)).isAccepted).toBe(false);
});
