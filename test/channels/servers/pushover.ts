/** A local server that speaks Pushover's message API, as https://pushover.net/api documents it. */
import { asRecord } from "../../../src/core/json.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";
import { type Fault, type ReceivedRequest, type Reply, startMisbehavingServer } from "./misbehaving.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface PushoverServer extends FakeService {
  readonly requests: readonly ReceivedRequest[];
  /** What arrived on the phone. */
  readonly received: readonly Fields[];
  /** Receipts of emergencies that still repeat. */
  readonly repeating: ReadonlySet<string>;
}

const token = `azGDORePK8gMaC0QOYAMyEEuzJnyUi`;
const user = "uQiRzpo4DXghDmr9QzzfQu27cmVRsG";

export async function startPushoverServer(): Promise<PushoverServer> {
  const received: Fields[] = [];
  const repeating = new Set<string>();
  const request = "5042853c-402d-4a18-abcb-168734a801de";
  const refuse = (error: string): Reply => ({ status: 400, body: { status: 0, request, errors: [error] } });

  function handle({ method, path, body: sent }: ReceivedRequest): Reply {
    const body = asRecord(sent);
    if (method !== "POST") return { status: 404, body: { status: 0, errors: ["not found"] } };
    if (body.token !== token) return refuse("application token is invalid");
    const cancelled = /^\/1\/receipts\/(\w+)\/cancel\.json$/.exec(path)?.[1];
    if (cancelled !== undefined) {
      if (!repeating.delete(cancelled)) return refuse("receipt not found; may be invalid or expired");
      return { status: 200, body: { status: 1, request } };
    }
    if (path !== "/1/messages.json") return { status: 404, body: { status: 0, errors: ["not found"] } };
    return takeMessage(body);
  }

  function takeMessage(body: Fields): Reply {
    const { message, title = "", priority = 0 } = body;
    if (body.user !== user) return refuse("user identifier is invalid");
    if (typeof message !== "string" || message === "") return refuse("message cannot be blank");
    if (message.length > 1_024) return refuse("message is too long");
    if (typeof title !== "string" || title.length > 250) return refuse("title is too long");
    if (priority === 2 && !(Number(body.retry) >= 30 && Number(body.expire) <= 10_800))
      return refuse("expire must be supplied with priority=2");
    received.push(body);
    if (priority !== 2) return { status: 200, body: { status: 1, request } };
    const receipt = `r${crypto.randomUUID().replaceAll("-", "").slice(0, 29)}`;
    repeating.add(receipt);
    return { status: 200, body: { status: 1, request, receipt } };
  }

  const faults: Readonly<Record<Misbehaviour, Fault>> = {
    "rate-limit": {
      status: 429,
      headers: { "retry-after": "1" },
      body: { status: 0, request, errors: ["too many requests"] },
    },
    error: { status: 500, body: { status: 0, request, errors: ["internal error"] } },
    refuse: refuse("application token is invalid"),
    hang: "hang",
    reset: "reset",
    "lose-answer": "lost",
    garbage: { status: 200, body: "<html>captive portal</html>" },
  };
  const server = await startMisbehavingServer(handle);
  const cannot = () => Promise.reject(new Error("Pushover is one-way"));
  return {
    requests: server.requests,
    received,
    repeating,
    settings: { server: server.url },
    secrets: { token, user },
    accounts: { listed: "", foreign: "" },
    messages: () =>
      received.map(({ title, message }) => ({ text: `${title}\n${message}`, buttons: [], mentions: [] })),
    bodies: () => server.requests.map(({ body }) => body),
    sentCount: () => received.length,
    misbehave: (how, times) => server.fail(/./, ...Array.from({ length: times }, () => faults[how])),
    tap: cannot,
    reply: cannot,
    forge: cannot,
    replay: cannot,
    dropListeners() {},
    stop: server.stop,
  };
}
