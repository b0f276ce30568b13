import { expect } from "bun:test";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { chooseSeed } from "../random.ts";
import { letTimePass } from "../wait-until.ts";
import { type AppProcess, createFixture } from "./fixture.ts";
import {
  doneSummary,
  eventsAfterAsk,
  eventsUntilAsk,
  findSession,
  summarize,
  summarizeSession,
  waitingSummary,
} from "./scenario.ts";
import { type SendReport, sendBodies } from "./send-bodies.ts";

/** Checks that every body gets the right status, and that sessions before, between and after them are right. */
export async function checkBodies(count: number): Promise<void> {
  const seed = chooseSeed();
  console.log(`bodies: seed ${seed} (SEED=${seed} repeats it)`);
  const fixture = await createFixture();
  try {
    const app = await fixture.start();
    const authorization = fixture.read("auth-header").trim().replace("Authorization: ", "");
    const send = (from: number, to: number) =>
      sendBodies({ seed, from, to, connections: 12, target: { port: app.port, authorization } });
    const post = async (payloads: readonly object[]) => {
      for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
    };
    const fetchSummary = async (id: string) =>
      summarize((await (await fixture.get(`/api/sessions/${id}`)).json()) as SessionView);

    await post(eventsUntilAsk("before", "make"));
    const first = await send(0, count / 2);
    const half = await measureSettledMb(app);
    await post(eventsUntilAsk("between", "between"));
    expect(await fetchSummary("between")).toEqual(waitingSummary("between"));
    const second = await send(count / 2, count);
    const end = await measureSettledMb(app);
    await post(eventsAfterAsk("between", "between", "done between"));
    await post(eventsUntilAsk("after", "ls"));

    console.log(
      `bodies: ${count} ${formatReport(first, second)}; memory ${half.toFixed(0)} MB at half, ${end.toFixed(0)} MB at the end`,
    );
    expect([...first.wrong, ...second.wrong]).toEqual([]);
    expect(app.isRunning()).toBe(true);
    // It settles at about 200 MB, which the first half does not always reach. 500,000 bodies end where 100,000 do.
    expect(end).toBeLessThanOrEqual(half * 1.3 + 60);
    // The log names every failure inside the app.
    expect(fixture.log()).not.toMatch(/a request failed|could not/);
    const shown = await fixture.status();
    expect(summarizeSession(shown, "before")).toEqual(waitingSummary("make"));
    expect(summarizeSession(shown, "between")).toEqual(doneSummary("between", "done between"));
    expect(summarizeSession(shown, "after")).toEqual(waitingSummary("ls"));

    await app.kill();
    await fixture.start();
    const again = await fixture.status();
    for (const session of shown) {
      const { sessionId } = session;
      expect({ sessionId, ...summarize(findSession(again, sessionId)) }).toEqual({
        sessionId,
        ...summarize(session),
      });
    }
    expect(again).toHaveLength(shown.length);
  } finally {
    await fixture.destroy();
  }
}

/** The lowest of several samples, so that a garbage collection is among them. */
async function measureSettledMb(app: AppProcess): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let samples = 0; samples < 6; samples++) {
    await letTimePass(250, "a sample of memory now and then");
    least = Math.min(least, app.rssMb());
  }
  return least;
}

function formatReport(first: SendReport, second: SendReport): string {
  const statuses = new Map(first.statuses);
  for (const [status, times] of second.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`);
  const slowest = first.slowest.ms > second.slowest.ms ? first.slowest : second.slowest;
  const seconds = (first.seconds + second.seconds).toFixed(1);
  const megabytes = (first.megabytes + second.megabytes).toFixed(0);
  return `in ${seconds} s (${megabytes} MB): ${counts.join(", ")}; slowest ${slowest.ms.toFixed(0)} ms (${slowest.what})`;
}
