/** The test message, and a test of a channel without the running app: sends it and, where answers are on, waits for the tap. */
import { randomBytes } from "node:crypto";
import { readErrorMessage } from "../core/error-message.ts";
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
  /** It was sent, but nobody who may tapped in time. `refused` are the others. */
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

/** `reference` is that of its button; null if it has none. `ending` replaces the text once the button was tapped. */
export function createTestMessage(
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
    urgency: "normal",
    buttons: isAsking ? [{ label: "It works", reference, style: "plain" }] : [],
    replyReference: null,
    replyHint: null,
    isFinal: !isAsking,
    link: null,
  };
}

export const formatTestEnding = (by: string): string => `It works. Answered by ${by}.`;

export const formatAccount = ({ account, accountId }: ChannelSender): string =>
  account === "" || account === accountId ? accountId : `${account} (${accountId})`;
