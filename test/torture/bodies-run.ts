import { expect } from "bun:test";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { type App, createFixture } from "./fixture.ts";
import { chooseSeed } from "./random.ts";
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

/** Some bodies are stamped in 1970: a session known by such a one alone leaves the list at the next start. */
const isOfToday = ({ lastEventAt }: SessionSnapshot) => Date.now() - lastEventAt < 24 * 60 * 60_000;

/** Sessions that are told before, amid and after the bodies are all shown right. */
export async function checkBodies(count: number): Promise<void> {
  const seed = chooseSeed();
  console.log(`bodies: seed ${seed} (SEED=${seed} repeats it)`);
  const fixture = await createFixture();
  try {
    const app = await fixture.start();
    const authorization = fixture.read("auth-header").trim().replace("Authorization: ", "");
    const send = (from: number, to: number) =>
      sendBodies({ seed, from, to, connections: 12, target: { port: app.port, authorization } });
    const tell = async (payloads: readonly object[]) => {
      for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
    };
    const seen = async (id: string) =>
      summarize((await (await fixture.get(`/api/sessions/${id}`)).json()) as SessionSnapshot);

    await tell(eventsUntilAsk("before", "make"));
    const first = await send(0, count / 2);
    const half = await settledMb(app);
    await tell(eventsUntilAsk("amid", "amid"));
    expect(await seen("amid")).toEqual(waitingSummary("amid"));
    const second = await send(count / 2, count);
    const end = await settledMb(app);
    await tell(eventsAfterAsk("amid", "amid", "done amid"));
    await tell(eventsUntilAsk("after", "ls"));

    console.log(
      `bodies: ${count} ${summary(first, second)}; memory ${half.toFixed(0)} MB at half, ${end.toFixed(0)} MB at the end`,
    );
    expect([...first.wrong, ...second.wrong]).toEqual([]);
    expect(app.isRunning()).toBe(true);
    // Its level is some 200 MB, which the first half does not always reach: 500,000 bodies end where 100,000 do.
    expect(end).toBeLessThanOrEqual(half * 1.3 + 60);
    // Whatever failed inside the app is named there.
    expect(fixture.log()).not.toMatch(/a request failed|could not/);
    const shown = await fixture.status();
    expect(summarizeSession(shown, "before")).toEqual(waitingSummary("make"));
    expect(summarizeSession(shown, "amid")).toEqual(doneSummary("amid", "done amid"));
    expect(summarizeSession(shown, "after")).toEqual(waitingSummary("ls"));

    await app.kill();
    await fixture.start();
    const again = await fixture.status();
    for (const session of shown.filter(isOfToday)) {
      const { sessionId } = session;
      expect({ sessionId, ...summarize(findSession(again, sessionId)) }).toEqual({
        sessionId,
        ...summarize(session),
      });
    }
    expect(again.filter(isOfToday)).toHaveLength(shown.filter(isOfToday).length);
  } finally {
    await fixture.destroy();
  }
}

/** What is left once the collector has been: the least of a second and a half. */
async function settledMb(app: App): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let samples = 0; samples < 6; samples++) {
    await Bun.sleep(250);
    least = Math.min(least, app.rssMb());
  }
  return least;
}

function summary(first: SendReport, second: SendReport): string {
  const statuses = new Map(first.statuses);
  for (const [status, times] of second.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`);
  const slowest = first.slowest.ms > second.slowest.ms ? first.slowest : second.slowest;
  const seconds = (first.seconds + second.seconds).toFixed(1);
  const megabytes = (first.megabytes + second.megabytes).toFixed(0);
  return `in ${seconds} s (${megabytes} MB): ${counts.join(", ")}; slowest ${slowest.ms.toFixed(0)} ms (${slowest.what})`;
}
