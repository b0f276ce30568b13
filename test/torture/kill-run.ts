import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beckon, createFixture, type Fixture } from "./fixture.ts";
import { chooseSeed, createRandom } from "./random.ts";
import { findSession } from "./scenario.ts";

const program = join(import.meta.dir, "../fixtures/writer.ts");
/** Long enough that the snapshot is saved while events come in. */
const longLifeMs = 5_500;

export interface Kills {
  readonly times: number;
  readonly longLives: number;
}

function write(fixture: Fixture, name: string, how: string, loops: number) {
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

/** kill -9 again and again while events come in by every door: what was taken is there, once, and counted. */
export async function checkKills({ times, longLives }: Kills): Promise<void> {
  const seed = chooseSeed();
  console.log(`kill -9: seed ${seed} (SEED=${seed} repeats its moments)`);
  const random = createRandom(seed);
  const fixture = await createFixture();
  try {
    const writers = [
      write(fixture, "insist", "insist", 4),
      write(fixture, "give-up", "give-up", 4),
      write(fixture, "forward", "forward", 2),
    ];
    const longOnes = new Set(Array.from({ length: longLives }, () => random.between(0, times)));
    let kills = 0;
    let stops = 0;
    while (kills < times) {
      const { app, result: attempt } = fixture.launch();
      if (longOnes.delete(kills)) {
        await attempt;
        await Bun.sleep(longLifeMs);
      } else if (random.chance(0.2)) {
        // Also while it starts: before it has read what it knew, and while it does.
        await Bun.sleep(random.between(0, 150));
      } else {
        expect((await attempt).stderr).toBe("");
        await Bun.sleep(random.between(0, 150));
      }
      // Now and then as a person stops it: then the snapshot is as new as the journal.
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
    const taken = writers.flatMap((writer) => writer.ids());
    // What is still in the spool is taken before the app listens.
    await last.kill();
    await fixture.start();
    const ids = fixture.journal().map(({ id }) => id);
    const once = new Set(ids);
    const lost = taken.filter((id) => !once.has(id));
    const counts = `${lost.length} lost, ${ids.length - once.size} twice`;
    console.log(
      `kill -9: ${kills + 1} kills and ${stops} stops, ${taken.length} events taken, ${ids.length} in the journal, ${counts}`,
    );
    expect(taken.length).toBeGreaterThan(times * 10);
    expect(counts).toBe("0 lost, 0 twice");
    await expectCounted(fixture, taken);
  } finally {
    await fixture.destroy();
  }
}

/** Of a writer that does not give up, every prompt is counted, and the last is the last. */
async function expectCounted(fixture: Fixture, taken: readonly string[]): Promise<void> {
  const last = new Map<string, number>();
  for (const id of taken) {
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
