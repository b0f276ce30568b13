import { expect } from "bun:test";
import type { SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { chooseSeed } from "./random.ts";
import { storm, type Weather } from "./storm.ts";
import { afterItAsked, brief, briefOf, done, sessionOf, untilItAsks, waiting } from "./story.ts";
import { type App, createWorld } from "./world.ts";

/** Some bodies are stamped in 1970: a session known by such a one alone leaves the list at the next start. */
const isOfToday = ({ lastEventAt }: SessionSnapshot) => Date.now() - lastEventAt < 24 * 60 * 60_000;

/** Sessions that are told before, amid and after the bodies are all shown right. */
export async function survivesBodies(count: number): Promise<void> {
  const seed = chooseSeed();
  console.log(`bodies: seed ${seed} (SEED=${seed} repeats it)`);
  const world = await createWorld();
  try {
    const app = await world.start();
    const authorization = world.read("auth-header").trim().replace("Authorization: ", "");
    const send = (from: number, to: number) =>
      storm({ seed, from, to, connections: 12, target: { port: app.port, authorization } });
    const tell = async (payloads: readonly object[]) => {
      for (const payload of payloads) expect((await world.post(payload)).status).toBe(200);
    };
    const seen = async (id: string) =>
      brief((await (await world.get(`/api/sessions/${id}`)).json()) as SessionSnapshot);

    await tell(untilItAsks("before", "make"));
    const first = await send(0, count / 2);
    const half = await settledMb(app);
    await tell(untilItAsks("amid", "amid"));
    expect(await seen("amid")).toEqual(waiting("amid"));
    const second = await send(count / 2, count);
    const end = await settledMb(app);
    await tell(afterItAsked("amid", "amid", "done amid"));
    await tell(untilItAsks("after", "ls"));

    console.log(
      `bodies: ${count} ${summary(first, second)}; memory ${half.toFixed(0)} MB at half, ${end.toFixed(0)} MB at the end`,
    );
    expect([...first.wrong, ...second.wrong]).toEqual([]);
    expect(app.isRunning()).toBe(true);
    // Its level is some 200 MB, which the first half does not always reach: 500,000 bodies end where 100,000 do.
    expect(end).toBeLessThanOrEqual(half * 1.3 + 60);
    // Whatever failed inside the app is named there.
    expect(world.log()).not.toMatch(/a request failed|could not/);
    const shown = await world.status();
    expect(briefOf(shown, "before")).toEqual(waiting("make"));
    expect(briefOf(shown, "amid")).toEqual(done("amid", "done amid"));
    expect(briefOf(shown, "after")).toEqual(waiting("ls"));

    await app.kill();
    await world.start();
    const again = await world.status();
    for (const session of shown.filter(isOfToday)) {
      const { sessionId } = session;
      expect({ sessionId, ...brief(sessionOf(again, sessionId)) }).toEqual({ sessionId, ...brief(session) });
    }
    expect(again.filter(isOfToday)).toHaveLength(shown.filter(isOfToday).length);
  } finally {
    await world.destroy();
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

function summary(first: Weather, second: Weather): string {
  const statuses = new Map(first.statuses);
  for (const [status, times] of second.statuses) statuses.set(status, (statuses.get(status) ?? 0) + times);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`);
  const slowest = first.slowest.ms > second.slowest.ms ? first.slowest : second.slowest;
  const seconds = (first.seconds + second.seconds).toFixed(1);
  const megabytes = (first.megabytes + second.megabytes).toFixed(0);
  return `in ${seconds} s (${megabytes} MB): ${counts.join(", ")}; slowest ${slowest.ms.toFixed(0)} ms (${slowest.what})`;
}
