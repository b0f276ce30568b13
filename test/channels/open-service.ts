/** Opens a service's real client for a test, with everything that it reports. */
import type { Channel, ChannelMessage, ChannelResponse, Service } from "../../src/channels/channel.ts";
import type { FakeService } from "./servers/fake-service.ts";

export interface OpenedChannel {
  readonly channel: Channel;
  readonly responses: readonly ChannelResponse[];
  readonly problems: readonly string[];
}

export interface OpenOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** What the sender of a response gets. */
  readonly reply?: string;
}

export async function openService(
  service: Service,
  server: FakeService,
  { settings = server.settings, secrets = server.secrets, reply = "Allowed." }: OpenOptions = {},
): Promise<OpenedChannel> {
  const responses: ChannelResponse[] = [];
  const problems: string[] = [];
  const defaults = service.settings.flatMap((setting) =>
    setting.default === undefined ? [] : [[setting.name, setting.default]],
  );
  let state = {};
  const channel = (await service.load())({
    name: "phone",
    settings: { ...Object.fromEntries(defaults), ...settings },
    detail: "full",
    isAnswering: true,
    secret: (name) => secrets[name] ?? null,
    onResponse: async (response) => {
      responses.push(response);
      return { text: reply, isAccepted: true };
    },
    onProblem: (text) => problems.push(text),
    state: {
      get: () => state,
      set: (value) => {
        state = value;
      },
    },
    now: Date.now,
    requestTimeoutMs: 500,
  });
  return { channel, responses, problems };
}

export const exampleMessage: ChannelMessage = {
  key: "claude:5e55109e#1",
  session: "claude:5e55109e",
  title: "checkout-api wants to use Bash",
  lines: ["npm test"],
  urgency: "urgent",
  buttons: [
    { label: "Allow", reference: "a".repeat(22), style: "allow" },
    { label: "Deny", reference: "d".repeat(22), style: "deny" },
  ],
  replyReference: "r".repeat(22),
  replyHint: "Reply with a reason to deny it.",
  isFinal: false,
  link: null,
};

export const endedMessage: ChannelMessage = {
  ...exampleMessage,
  lines: ["Allowed in the terminal"],
  buttons: [],
  replyReference: null,
  replyHint: null,
  isFinal: true,
};
