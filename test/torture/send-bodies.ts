/** Sends thousands of bodies to a running beckon and checks each response. */

import { createRandom } from "../random.ts";
import { createBody, expectedStatus } from "./bodies.ts";
import { createRawConnection } from "./raw-connection.ts";
import { createRequest, type RequestTarget } from "./requests.ts";

export interface SendOptions {
  readonly seed: number;
  /** The number of the first body. `to` is not included. */
  readonly from: number;
  readonly to: number;
  readonly connections: number;
  readonly target: RequestTarget;
}

export interface SendReport {
  /** How often each status was received. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Wrong responses, with what is needed to repeat them. */
  readonly wrong: readonly string[];
  readonly slowest: { readonly ms: number; readonly what: string };
  readonly seconds: number;
  readonly megabytes: number;
}

const maxWrong = 20;

export async function sendBodies({ seed, from, to, connections, target }: SendOptions): Promise<SendReport> {
  const statuses = new Map<number, number>();
  const wrong: string[] = [];
  let slowest = { ms: 0, what: "" };
  let next = from;
  let bytesSent = 0;
  const started = performance.now();

  async function sendAll(connection: ReturnType<typeof createRawConnection>): Promise<void> {
    while (next < to && wrong.length < maxWrong) {
      const n = next++;
      const body = createBody(seed, n);
      const made = createRequest(target, body.bytes, createRandom(seed ^ Math.imul(n + 1, 0x85ebca6b)));
      const what = `body ${n} of seed ${seed} (${body.kind}${made.wrongHead === null ? "" : `, ${made.wrongHead}`})`;
      const before = performance.now();
      const answer = await connection
        .send(made)
        .catch((error: Error) => ({ status: -1, body: error.message }));
      const ms = performance.now() - before;
      bytesSent += made.bytes.length;
      if (ms > slowest.ms) slowest = { ms, what };
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const expected = expectedStatus(body.kind);
      const allowed = made.statuses ?? (expected === null ? [200, 400] : [expected]);
      if (!allowed.includes(answer.status)) {
        wrong.push(`${what}: ${answer.status} ${answer.body.slice(0, 200)}, not ${allowed.join(" or ")}`);
      }
    }
    connection.close();
  }

  const all = Array.from({ length: connections }, () => createRawConnection(target.port));
  await Promise.all(all.map(sendAll));
  const seconds = (performance.now() - started) / 1_000;
  return { statuses, wrong, slowest, seconds, megabytes: bytesSent / 1e6 };
}
