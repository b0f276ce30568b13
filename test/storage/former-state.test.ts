/** What released versions left on the disk is read by this one. Each folder was written by the program of that version (make.ts there). */
import { describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const folder = join(repo, "test/fixtures/state");
const versions = readdirSync(folder).filter((name) => /^\d/.test(name));
const fixture = forEachTest(createAppFixture);
const limitMs = 40_000;

/** As if it had been written a minute ago: sessions that ended long ago are not listed. */
function copyState(version: string): void {
  const { state } = fixture.paths;
  cpSync(join(folder, version), state, { recursive: true });
  const laterMs = Date.now() - 60_000 - Number(readFileSync(join(state, "made-at"), "utf8"));
  for (const name of new Bun.Glob("**/*.{json,jsonl}").scanSync(state)) {
    const text = readFileSync(join(state, name), "utf8");
    const moved = text.replace(/\b1[789]\d{11}\b/g, (time) => String(Number(time) + laterMs));
    writeFileSync(join(state, name), moved, { mode: 0o600 });
  }
}

const fetchJson = async (path: string) => JSON.parse(await (await fixture.request(path)).text());

describe.each(versions)("the files of %s", (version) => {
  test(
    "sessions, requests, settings, what is muted, channels and history are read, and nothing is set aside",
    async () => {
      copyState(version);
      await fixture.startProcess();
      const sessions = await fixture.fetchSessions();
      expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["asks", "done", "over"]);
      expect(await fixture.fetchSession("asks")).toMatchObject({
        activityPhase: "waiting_permission",
        lastPrompt: "run the tests",
        asks: [{ kind: "permission" }],
      });
      expect(await fixture.fetchSession("done")).toMatchObject({
        lastResponse: "Fixed the cart total.",
        silence: "muted",
      });
      expect(await fixture.fetchSession("over")).toMatchObject({ state: "completed" });

      const { settings, problems } = await fetchJson("/api/settings");
      expect(problems).toEqual([]);
      expect(settings.flatMap(({ mistake }: { mistake: string | null }) => mistake ?? [])).toEqual([]);
      expect(settings).toContainEqual(expect.objectContaining({ key: "alerts.longTurnMinutes", value: 7 }));
      // Channels are loaded after the start.
      const hasPhone = async () =>
        (await fetchJson("/api/channels")).channels.some(({ name }: { name: string }) => name === "phone");
      await waitUntil(hasPhone, 20_000);

      const isFound = async () =>
        JSON.stringify(await fetchJson("/api/history?text=cart")).includes("fix the cart");
      await waitUntil(isFound, 20_000);
      expect(readdirSync(fixture.paths.state).filter((name) => name.includes("damaged"))).toEqual([]);
    },
    limitMs,
  );

  test(
    "the journal alone is enough",
    async () => {
      copyState(version);
      writeFileSync(fixture.paths.snapshot, "");
      await fixture.startProcess();
      expect((await fixture.fetchSession("asks"))?.asks).toHaveLength(1);
      expect(await fixture.fetchSession("done")).toMatchObject({ lastPrompt: "fix the cart" });
    },
    limitMs,
  );
});
