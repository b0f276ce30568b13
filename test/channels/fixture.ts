/** A channel of one service, opened on a local server, with everything that it reports. */
import type {
  Channel,
  ChannelMessage,
  ChannelOptions,
  ChannelResponse,
  OpenChannel,
  Service,
} from "../../src/channels/channel.ts";
import type { Schedule } from "../../src/core/interfaces/index.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import type { FakeService } from "./servers/fake-service.ts";

export interface OpenedChannel {
  readonly channel: Channel;
  readonly responses: ChannelResponse[];
  readonly problems: string[];
  /** What the channel saved. */
  readonly saved: { value: JsonRecord };
}

export function openOn(
  open: OpenChannel,
  server: FakeService,
  options: Partial<ChannelOptions> = {},
  saved: { value: JsonRecord } = { value: {} },
  beforeReply: () => Promise<void> = async () => {},
): OpenedChannel {
  const responses: ChannelResponse[] = [];
  const problems: string[] = [];
  const channel = open({
    name: "phone",
    settings: server.settings,
    detail: "full",
    isAnswering: true,
    secret: (name) => server.secrets[name] ?? null,
    onResponse: async (response) => {
      responses.push(response);
      await beforeReply();
      return { text: "Allowed.", isAccepted: true };
    },
    onProblem: (text) => problems.push(text),
    state: {
      get: () => saved.value,
      set: (value) => {
        saved.value = value;
      },
    },
    now: Date.now,
    requestTimeoutMs: 10_000,
    ...options,
  });
  return { channel, responses, problems, saved };
}

export interface OpenOptions {
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly schedule?: Schedule;
  readonly requestTimeoutMs?: number;
  /** What happens between a response and beckon's reply to it. */
  readonly beforeReply?: () => Promise<void>;
  /** What the channel saved before a restart. */
  readonly saved?: OpenedChannel["saved"];
}

/** With the defaults of the service's settings. */
export async function openService(
  service: Service,
  server: FakeService,
  {
    settings = server.settings,
    secrets = server.secrets,
    schedule,
    requestTimeoutMs = 500,
    beforeReply,
    saved,
  }: OpenOptions = {},
): Promise<OpenedChannel> {
  const defaults = service.settings.flatMap((setting) =>
    setting.default === undefined ? [] : [[setting.name, setting.default]],
  );
  const options = {
    settings: { ...Object.fromEntries(defaults), ...settings },
    secret: (name: string) => secrets[name] ?? null,
    schedule,
    requestTimeoutMs,
  };
  return openOn(await service.load(), server, options, saved, beforeReply);
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

export const finalMessage: ChannelMessage = {
  ...exampleMessage,
  lines: ["Allowed in the terminal"],
  buttons: [],
  replyReference: null,
  replyHint: null,
  isFinal: true,
};
