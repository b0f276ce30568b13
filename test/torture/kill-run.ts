import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseSeed, createRandom } from "../random.ts";
import { letTimePass, waitForValue } from "../wait-until.ts";
import { beckon, createFixture, type Fixture } from "./fixture.ts";
import { findSession } from "./scenario.ts";

const program = join(import.meta.dir, "../fixtures/writer.ts");
/** Long enough for the snapshot to be saved while events arrive. */
const longRunMs = 5_500;

export interface Kills {
  readonly times: number;
  readonly longRuns: number;
}

function startWriter(fixture: Fixture, name: string, how: string, loops: number) {
  const ledger = join(fixture.folder, `${name}.ledger`);
  const command = [process.execPath, program, name, how, String(loops), ledger, ...beckon, "hook", "claude"];
  const child = Bun.spawn(command, {
    cwd: fixture.folder,
    env: fixture.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return {
    ids: () => (existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").slice(0, -1) : []),
    async stop() {
      child.kill("SIGTERM");
      expect(await new Response(child.stderr).text()).toBe("");
      expect(await child.exited).toBe(0);
    },
  };
}

/** Kills the app again and again while events arrive in every way. Every accepted event must be there once. */
export async function checkKills({ times, longRuns }: Kills): Promise<void> {
  const seed = chooseSeed();
  console.log(`kill -9: seed ${seed} (SEED=${seed} repeats its moments)`);
  const random = createRandom(seed);
  const fixture = await createFixture();
  try {
    const writers = [
      startWriter(fixture, "insist", "insist", 4),
      startWriter(fixture, "give-up", "give-up", 4),
      startWriter(fixture, "forward", "forward", 2),
    ];
    const longRunNumbers = new Set(Array.from({ length: longRuns }, () => random.between(0, times)));
    let kills = 0;
    let stops = 0;
    while (kills < times) {
      const { app, result: attempt } = fixture.launch();
      if (longRunNumbers.delete(kills)) {
        await attempt;
        await letTimePass(longRunMs, "long enough for a snapshot");
      } else if (random.chance(0.2)) {
        await letTimePass(random.between(0, 150), "also before and while the app reads its files");
      } else {
        expect((await attempt).stderr).toBe("");
        await letTimePass(random.between(0, 150), "it is killed at another moment each time");
      }
      // Sometimes a normal stop: then the snapshot is as new as the journal.
      if ((kills + stops) % 10 === 5) {
        await app.stop();
        stops++;
      } else {
        await app.kill();
        kills++;
      }
      await attempt;
    }

    const last = await fixture.start();
    for (const writer of writers) await writer.stop();
    const accepted = writers.flatMap((writer) => writer.ids());
    // The rest of the spool is read before the app listens.
    await last.kill();
    await fixture.start();
    const ids = fixture.journal().map(({ id }) => id);
    const journalled = new Set(ids);
    const lost = accepted.filter((id) => !journalled.has(id));
    const counts = `${lost.length} lost, ${ids.length - journalled.size} twice`;
    console.log(
      `kill -9: ${kills + 1} kills and ${stops} stops, ${accepted.length} events accepted, ${ids.length} in the journal, ${counts}`,
    );
    expect(accepted.length).toBeGreaterThan(times * 10);
    expect(counts).toBe("0 lost, 0 twice");
    await expectCounted(fixture, accepted);
    await expectRecorded(fixture, ids);
  } finally {
    await fixture.destroy();
  }
}

/** The history must have every event of the journal once, and its database must be sound. */
async function expectRecorded(fixture: Fixture, ids: readonly string[]): Promise<void> {
  const countPrompts = async () => {
    const response = await fixture.get("/api/history?kind=prompt&limit=1");
    return ((await response.json()) as { total: number }).total;
  };
  await waitForValue(countPrompts, (total) => total >= ids.length, 30_000);
  const db = new Database(fixture.inHome("history.db"), { readonly: true });
  const read = (sql: string) => db.query<{ id: string }, []>(sql).all();
  const recorded = read("SELECT id FROM normalized_events WHERE source = 'hook'").map(({ id }) => id);
  expect(recorded.sort()).toEqual([...ids].sort());
  expect(read("SELECT id FROM items WHERE kind = 'prompt'").length).toBe(ids.length);
  expect(read("SELECT id FROM turns").length).toBe(ids.length);
  const wrongTurns = "SELECT key AS id FROM turns GROUP BY key HAVING max(turn_seq) <> count(*)";
  expect(read(wrongTurns)).toEqual([]);
  expect(db.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  db.close();
  console.log(
    `kill -9: ${recorded.length} events in the history, ${fixture.read("beckon.log").match(/history/g)?.length ?? 0} lines about it in the log`,
  );
}

/** For a writer that retries, every prompt must be counted and the last one shown. */
async function expectCounted(fixture: Fixture, accepted: readonly string[]): Promise<void> {
  const last = new Map<string, number>();
  for (const id of accepted) {
    const [, session = "", n] = /^(.*)-(\d+)$/.exec(id) ?? [];
    if (!session.startsWith("give-up")) last.set(session, Math.max(last.get(session) ?? 0, Number(n)));
  }
  const sessions = await fixture.status();
  for (const [session, n] of last) {
    const { turnCount, lastPrompt, activityPhase } = findSession(sessions, session) ?? {};
    expect({ session, turnCount, lastPrompt, activityPhase }).toEqual({
      session,
      turnCount: n,
      lastPrompt: String(n),
      activityPhase: "busy",
    });
  }
}
