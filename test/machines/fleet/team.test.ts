/** A team of real apps on a real redis-server: each sees who is blocked, and nothing of what was said. */
import { afterEach, expect, setDefaultTimeout } from "bun:test";
import type { TeamView } from "../../../src/core/interfaces/wire.ts";
import { readEpochKeys } from "../../../src/machines/fleet/fleet-file.ts";
import { createPlaces } from "../../../src/machines/fleet/places.ts";
import { createOpener } from "../../../src/machines/fleet/seal.ts";
import { createPromptEvent } from "../../app-fixture.ts";
import { testWith } from "../../needs.ts";
import { waitForValue, waitUntil } from "../../wait-until.ts";
import { createFleetLab, type FleetLab } from "./fleet-lab.ts";

setDefaultTimeout(60_000);
const soonMs = 20_000;
type Name = "laptop" | "workstation";
let lab: FleetLab<Name>;
afterEach(() => lab?.destroy());

const fetchTeam = async (name: Name): Promise<TeamView | undefined> =>
  ((await (await lab.get(name).request("/api/teams")).json()) as { teams: TeamView[] }).teams[0];

const findPerson = async (name: Name, person: string) =>
  (await fetchTeam(name))?.people.find((each) => each.name === person)?.machines[0];

/** Everything that was written to the log, as a member can open it. */
async function openLog(name: Name): Promise<string> {
  const record = lab.readRecord(name);
  const opener = createOpener({
    fleet: record.id,
    keys: () => readEpochKeys(record),
    findMember: (id) => record.members.members.find((member) => member.id === id)?.signing ?? null,
  });
  const entries = (await lab.send("XRANGE", createPlaces(record.id).log, "-", "+")) as [string, string[]][];
  const opened = entries.map(([, fields]) => opener.open("log", Buffer.from(fields[1] ?? "", "base64")));
  return JSON.stringify(opened);
}

testWith("redis-server")(
  "a teammate is shown who is blocked since when, and nothing that was said",
  async () => {
    lab = await createFleetLab<Name>([], { kind: "team", share: "minimal", answers: false });
    await lab.add("laptop", "kim");
    await lab.add("workstation", "mira");
    await lab.get("laptop").start();
    await lab.get("workstation").start();
    await waitUntil(async () => (await findPerson("laptop", "mira"))?.isThere === true, soonMs);
    await lab.get("workstation").postHook(createPromptEvent("s", { prompt: "deploy zqsecret" }));
    const asked = Date.now();
    const decision = lab.ask("workstation", "s", "npm publish zqsecret");
    const blocked = await waitForValue(
      () => findPerson("laptop", "mira"),
      (machine) => machine?.waiting === 1,
      soonMs,
    );
    expect(blocked).toMatchObject({ name: "workstation", isThis: false, project: null, tool: null });
    expect(Math.abs((blocked?.since ?? 0) - asked)).toBeLessThan(soonMs);
    expect((await lab.fetchFleet("laptop"))?.members).toMatchObject([
      { person: "kim", needing: 0 },
      { person: "mira", needing: 1, since: blocked?.since as number },
    ]);
    // She is not asked to answer for him: it is in no list and no count, and there is no way to it.
    expect(await lab.get("laptop").fetchSessions()).toEqual([]);
    const answer = await lab.answer("laptop", "workstation", "s", { do: "allow" });
    expect(answer.status).toBe(404);
    const log = await openLog("laptop");
    expect(log).toContain("permission");
    for (const secret of ["zqsecret", "publish", "Bash", "/home"]) expect(log).not.toContain(secret);
    expect(JSON.stringify(await fetchTeam("laptop"))).not.toContain("zqsecret");
    // What mira sees of herself, and of what she shares.
    const own = await fetchTeam("workstation");
    expect(own?.people.find(({ isYou }) => isYou)?.machines[0]).toMatchObject({ isThis: true, waiting: 1 });
    expect(own?.example).toContain("permission");
    expect(own?.example).not.toContain("zqsecret");
    const session = await lab.get("workstation").fetchSession("s");
    await lab
      .get("workstation")
      .post(
        { do: "deny", by: "command line", ask: session?.asks[0]?.answerId },
        `/api/sessions/${encodeURIComponent("claude:s")}/answer`,
      );
    await decision;
    const after = await waitForValue(
      () => findPerson("laptop", "mira"),
      (machine) => machine?.waiting === 0,
      soonMs,
    );
    expect(after?.waits).toMatchObject([{ from: blocked?.since as number, to: expect.any(Number) }]);
    await lab.get("workstation").stopApps();
    await waitUntil(async () => (await findPerson("laptop", "mira"))?.isThere === false, soonMs);
    expect((await findPerson("laptop", "mira"))?.heardAt).toBeNumber();
  },
);
