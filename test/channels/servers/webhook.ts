/** A receiver of webhooks that checks signatures and ids as https://www.standardwebhooks.com describes it. */
import { createHmac } from "node:crypto";
import { asRecord, type JsonRecord } from "../../../src/core/json.ts";
import type { FakeService, Misbehaviour } from "./fake-service.ts";
import { type Fault, type ReceivedRequest, type Reply, startMisbehavingServer } from "./misbehaving.ts";

export interface WebhookServer extends FakeService {
  readonly requests: readonly ReceivedRequest[];
  /** The bodies that were accepted, in order, without repetitions. */
  readonly accepted: readonly JsonRecord[];
}

const key = "a-key-that-both-sides-know";

const faults: Readonly<Record<Misbehaviour, Fault>> = {
  "rate-limit": { status: 429, headers: { "retry-after": "1" } },
  error: { status: 503 },
  refuse: { status: 410 },
  hang: "hang",
  reset: "reset",
  "lose-answer": "lost",
  garbage: "redirect",
};

export async function startWebhookServer(): Promise<WebhookServer> {
  const accepted: JsonRecord[] = [];
  const ids = new Set<string>();
  /** Alert → its newest state. */
  const shown = new Map<string, string>();

  function handle({ path, headers, body }: ReceivedRequest): Reply {
    if (path !== "/hooks/beckon?token=hush-hush") return { status: 404 };
    const id = String(headers["webhook-id"]);
    const signed = `${id}.${headers["webhook-timestamp"]}.${JSON.stringify(body)}`;
    const signature = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
    if (headers["webhook-signature"] !== signature) return { status: 401 };
    if (ids.has(id)) return { status: 200 };
    ids.add(id);
    const fields = asRecord(body);
    accepted.push(fields);
    shown.set(String(fields.alert), `${fields.title}\n${fields.text}`);
    return { status: 200 };
  }

  const server = await startMisbehavingServer(handle);
  const impossible = async (): Promise<never> => {
    throw new Error("a webhook takes no answers");
  };
  return {
    settings: {},
    secrets: { url: `${server.url}/hooks/beckon?token=hush-hush`, key },
    accounts: { listed: "", foreign: "" },
    requests: server.requests,
    accepted,
    messages: () => [...shown.values()].map((text) => ({ text, buttons: [], mentions: [] })),
    bodies: () => server.requests.map(({ body }) => body),
    sentCount: () => shown.size,
    misbehave(how, times) {
      server.fail(/^POST/, ...Array.from({ length: times }, () => faults[how]));
    },
    tap: impossible,
    reply: impossible,
    forge: impossible,
    replay: impossible,
    dropListeners() {},
    stop: server.stop,
  };
}
