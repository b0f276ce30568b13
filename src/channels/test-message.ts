/** The test message, and tests of a channel, with and without the running app: sends it and, where answers are on, waits for the tap. */
import { randomBytes } from "node:crypto";
import { readErrorMessage } from "../core/error-message.ts";
import type { ClockReading } from "../core/session/event.ts";
import { waitAtMost } from "../system/schedule.ts";
import type {
  Channel,
  ChannelMessage,
  ChannelReply,
  ChannelResponse,
  ChannelSender,
  Service,
  ServiceSettings,
} from "./channel.ts";
import type { References } from "./references.ts";

export interface TestOptions {
  readonly name: string;
  readonly service: Service;
  /** Checked, with defaults. */
  readonly settings: ServiceSettings;
  readonly secret: (field: string) => string | null;
  /** No error names a secret. */
  readonly redact: (text: string) => string;
  readonly isAnswering: boolean;
  /** Whose tap counts. null: everybody's. */
  readonly accounts: readonly string[] | null;
  readonly waitMs: number;
  /** The message is out, and the tap is waited for. */
  readonly onSent: () => void;
}

export type TestResult =
  | { readonly outcome: "failed"; readonly error: string }
  | { readonly outcome: "sent" }
  | { readonly outcome: "tapped"; readonly by: string; readonly accountId: string }
  /** It was sent, but nobody who may answer tapped in time. `refused` are the others who tapped. */
  | { readonly outcome: "not tapped"; readonly problem: string | null; readonly refused: readonly string[] };

/** Never rejects. */
export async function testChannelDirectly(options: TestOptions): Promise<TestResult> {
  const { name, service, settings, secret, redact, isAnswering, accounts, onSent } = options;
  const reference = randomBytes(16).toString("base64url");
  const { promise: tapped, resolve } = Promise.withResolvers<ChannelResponse>();
  const refused: string[] = [];
  let problem: string | null = null;
  let state = {};

  async function onResponse(response: ChannelResponse): Promise<ChannelReply> {
    if (response.reference !== reference)
      return { text: "Not accepted: this is not a test.", isAccepted: false };
    if (accounts !== null && service.hasAccounts && !accounts.includes(response.accountId)) {
      refused.push(formatAccount(response));
      return { text: `Not accepted: the account ${response.accountId} is not listed.`, isAccepted: false };
    }
    resolve(response);
    return { text: "It works.", isAccepted: true };
  }

  let channel: Channel | null = null;
  try {
    channel = (await service.load())({
      name,
      settings,
      detail: "full",
      isAnswering,
      secret,
      onResponse,
      onProblem: (text) => {
        problem = redact(text);
      },
      state: {
        get: () => state,
        set: (value) => {
          state = value;
        },
      },
      now: Date.now,
    });
    if (isAnswering) channel.listen?.();
    const message = createTestMessage(name, isAnswering ? reference : null);
    const handle = await channel.send(message, randomBytes(9).toString("hex"));
    if (!isAnswering) return { outcome: "sent" };
    onSent();
    const response = (await waitAtMost(options.waitMs, tapped)) ?? null;
    const by = response && (formatAccount(response) || name);
    const ending = by === null ? null : formatTestEnding(by);
    await channel.update?.(handle, createTestMessage(name, null, ending)).catch(() => {});
    return response && by !== null
      ? { outcome: "tapped", by, accountId: response.accountId }
      : { outcome: "not tapped", problem: channel.problem() ?? problem, refused };
  } catch (error) {
    return { outcome: "failed", error: redact(readErrorMessage(error)) };
  } finally {
    await channel?.stop().catch(() => {});
  }
}

/** What became of a test message. */
export interface ChannelTest {
  /** Why it could not be sent; null if it was. */
  readonly problem: string | null;
  /** Resolves with who tapped its button; null if the channel takes no answers. */
  readonly tapped: Promise<string> | null;
}

export interface ChannelTestsOptions extends Pick<TestOptions, "name" | "isAnswering" | "redact"> {
  readonly references: References;
  readonly clock: () => ClockReading;
}

/** The tests of a channel that is open in the running app. */
export function createChannelTests({ name, isAnswering, redact, references, clock }: ChannelTestsOptions) {
  /** Test messages that wait for a tap, by key. */
  const waiting = new Map<string, (by: string) => void>();
  let count = 0;
  return {
    async send(channel: Pick<Channel, "send" | "update">): Promise<ChannelTest> {
      const { promise, resolve } = Promise.withResolvers<string>();
      const key = `test#${++count}`;
      const reference = isAnswering
        ? references.create({ key, answerId: "test", meaning: { do: "test" } })
        : null;
      let handle = "";
      waiting.set(key, (by) => {
        waiting.delete(key);
        resolve(by);
        channel.update?.(handle, createTestMessage(name, null, formatTestEnding(by))).catch(() => {});
      });
      try {
        handle = await channel.send(createTestMessage(name, reference), `test-${clock().at}-${count}`);
        return { problem: null, tapped: isAnswering ? promise : null };
      } catch (error) {
        waiting.delete(key);
        return { problem: redact(readErrorMessage(error)), tapped: null };
      }
    },
    onTap: (key: string, by: string): void => waiting.get(key)?.(by),
  };
}

/** `reference` is that of its button; null if it has none. `ending` replaces the text once the button was tapped. */
function createTestMessage(
  name: string,
  reference: string | null,
  ending: string | null = null,
): ChannelMessage {
  const isAsking = reference !== null;
  const lines = [
    `Alerts of "${name}" arrive here.`,
    ...(isAsking ? ["Tap the button to see whether answers arrive."] : []),
  ];
  return {
    key: "test",
    session: "",
    title: "beckon: a test",
    lines: ending === null ? lines : [ending],
    // As loud as an alert: a test that arrives silently says nothing about one that must not be missed.
    urgency: "urgent",
    buttons: isAsking ? [{ label: "It works", reference, style: "plain" }] : [],
    replyReference: null,
    replyHint: null,
    isFinal: ending !== null,
    link: null,
  };
}

const formatTestEnding = (by: string): string => `It works. Answered by ${by}.`;

export const formatAccount = ({ account, accountId }: ChannelSender): string =>
  account === "" || account === accountId ? accountId : `${account} (${accountId})`;
