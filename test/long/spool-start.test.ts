/** A start after beckon was down for long: it listens at once, and reads what the hooks have spooled behind that. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AppProcess, createFixture, type Fixture } from "../torture/fixture.ts";
import {
  findSession,
  permissionRequested,
  prompted,
  stopped,
  summarizeSession,
} from "../torture/scenario.ts";
import { waitForValue } from "../wait-until.ts";

const sessions = 10;
const turns = 2_000;
const lastPrompt = `${turns - 1}`;
const sessionName = (n: number) => `session-${n}`;

/** Two events of each turn. The oldest is from an hour ago. */
function createSpool(): { readonly text: string; readonly ids: readonly string[] } {
  const ids: string[] = [];
  const startedAt = Date.now() - 3_600_000;
  const lines: string[] = [];
  const add = (id: string, payload: object) => {
    ids.push(id);
    const _meta = { id, at: startedAt + ids.length * 50 };
    lines.push(`${JSON.stringify({ provider: "claude", _meta, payload })}\n`);
  };
  for (let turn = 0; turn < turns; turn++) {
    for (let n = 0; n < sessions; n++) {
      add(`${n}-${turn}-prompt`, prompted(sessionName(n), String(turn)));
      add(`${n}-${turn}-stop`, stopped(sessionName(n), `answer ${turn}`));
    }
  }
  return { text: lines.join(""), ids };
}

const ask = (id: string, session: string) => ({
  provider: "claude",
  _meta: { id, at: Date.now() },
  payload: permissionRequested(session, "make"),
});

/** The ids of the session's events in the journal, in order. */
const journalledIds = (fixture: Fixture, session: string): string[] =>
  fixture
    .journal()
    .filter(({ body }) => JSON.stringify(body).includes(`"${session}"`))
    .map(({ id }) => id);

const countJournalled = (fixture: Fixture) => fixture.journal().length;

test("an ask that arrives at once is accepted after its session's spooled events, and before the rest", async () => {
  const fixture = await createFixture();
  try {
    const spool = createSpool();
    writeFileSync(fixture.inHome("spool.jsonl"), spool.text);
    const app = await fixture.start();
    const { problems } = (await (await fixture.get("/api/sessions")).json()) as { problems?: string[] };
    expect(problems?.join()).toContain("still reading what happened while it was not running");

    expect((await fixture.post(ask("new-ask", sessionName(7)))).status).toBe(200);
    expect(summarizeSession(await fixture.status(), sessionName(7))).toMatchObject({
      phase: "waiting_permission",
      turns,
      prompt: lastPrompt,
    });
    const ofSession = spool.ids.filter((id) => id.startsWith("7-"));
    expect(journalledIds(fixture, sessionName(7))).toEqual([...ofSession, "new-ask"]);

    expect(await app.stop()).toBe(0);
    await checkEverythingOnce(fixture, spool.ids, ["new-ask"]);
    expect(fixture.journal().at(-1)?.id).not.toBe("new-ask");
  } finally {
    await fixture.destroy();
  }
}, 60_000);

test("kill -9 while it reads, again and again: every event counts once, and in its session's order", async () => {
  const fixture = await createFixture();
  try {
    const spool = createSpool();
    writeFileSync(fixture.inHome("spool.jsonl"), spool.text);
    const asks: string[] = [];
    for (const n of [3, 5, 8]) {
      const app = await fixture.start();
      asks.push(`ask-${n}`);
      expect((await fixture.post(ask(`ask-${n}`, sessionName(n)))).status).toBe(200);
      await app.kill();
      if (n === 3) expect(countJournalled(fixture)).toBeLessThan(spool.ids.length);
    }
    await checkEverythingOnce(fixture, spool.ids, asks);
  } finally {
    await fixture.destroy();
  }
}, 60_000);

test("what a full spool has dropped is reported while beckon is stopped, and by the next start", async () => {
  const fixture = await createFixture();
  try {
    const sentence = "7 events from 1970-01-01 00:00 to 1970-01-01 00:01 UTC were dropped";
    writeFileSync(fixture.inHome("spool-dropped.json"), JSON.stringify({ count: 7, from: 0, to: 60_000 }));
    for (const command of ["status", "doctor"])
      expect((await fixture.beckon([command])).stdout.replace(/\s+/g, " ")).toContain(sentence);
    await fixture.start();
    expect(fixture.log()).toContain(sentence);
    expect(await (await fixture.get("/api/sessions")).text()).toContain(sentence);
    expect(existsSync(fixture.inHome("spool-dropped.json"))).toBe(false);
  } finally {
    await fixture.destroy();
  }
});

async function checkEverythingOnce(
  fixture: Fixture,
  spooled: readonly string[],
  asks: readonly string[],
): Promise<void> {
  const app: AppProcess = await fixture.start();
  const expected = spooled.length + asks.length;
  await waitForValue(
    () => countJournalled(fixture),
    (count) => count >= expected,
    30_000,
  );
  expect(
    fixture
      .journal()
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...spooled, ...asks].sort());
  for (let n = 0; n < sessions; n++) {
    const ids = journalledIds(fixture, sessionName(n)).filter((id) => !asks.includes(id));
    expect(ids).toEqual(spooled.filter((id) => id.startsWith(`${n}-`)));
    const isAsking = asks.some((id) => id.endsWith(`-${n}`)) || (n === 7 && asks.includes("new-ask"));
    const session = findSession(await fixture.status(), sessionName(n));
    expect([n, session?.turnCount, session?.lastPrompt, session?.asks.length]).toEqual([
      n,
      turns,
      lastPrompt,
      isAsking ? 1 : 0,
    ]);
  }
  expect(readFileSync(fixture.inHome("beckon.log"), "utf8")).not.toContain(" error ");
  await app.kill();
}
