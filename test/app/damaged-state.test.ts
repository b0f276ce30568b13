/** A damaged file of state is neither used nor lost, and the user is told. */
import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readInstallRecord, writeInstallRecord } from "../../src/setup/install-record.ts";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

function damage(name: string, text: string): void {
  mkdirSync(fixture.paths.state, { recursive: true, mode: 0o700 });
  writeFileSync(join(fixture.paths.state, name), text, { mode: 0o600 });
}
const findAside = (stem: string) =>
  readdirSync(fixture.paths.state).find((name) => name.startsWith(`${stem}.damaged-`)) ?? "";
const readAside = (stem: string) => readFileSync(join(fixture.paths.state, findAside(stem)), "utf8");
const readProblems = async (): Promise<string[]> =>
  ((await (await fixture.request("/api/sessions")).json()) as { problems: string[] }).problems;

const channel = { type: "webhook", url: "http://127.0.0.1:9/" };

test.each([
  ["cut off", '{"muted":{"claude:s', "is damaged (not JSON)"],
  ["empty", "", "is damaged (not JSON)"],
  ["a list", "[1]", "is damaged (not an object)"],
])("desk.json and channels.json: %s", async (_, text, reason) => {
  damage("desk.json", text);
  damage("channels.json", text);
  damage("config.json", JSON.stringify({ channels: { phone: channel } }));
  await fixture.start();
  await waitUntil(
    async () => (await readProblems()).some((problem) => problem.includes("channels.json")),
    5_000,
  );
  for (const stem of ["desk", "channels"]) {
    expect(readAside(stem)).toBe(text);
    const sentence = `${stem}.json ${reason} and was renamed to ${findAside(stem)}: beckon goes on without what it had`;
    expect(await readProblems()).toContain(sentence);
    const log = fixture.read(fixture.paths.log).split("\n");
    expect(log.filter((line) => line.includes(sentence))).toHaveLength(1);
  }
});

test("a folder among the damaged files of before does not keep beckon from starting", async () => {
  for (const name of ["0", "1", "2", "3"])
    mkdirSync(join(fixture.paths.state, `desk.damaged-${name}`), { recursive: true, mode: 0o700 });
  damage("desk.json", "{");
  await fixture.start();
  expect(readdirSync(fixture.paths.state)).toContain("desk.damaged-0");
});

test("beckon status says it also while beckon is not running, and changes nothing", async () => {
  damage("desk.json", "{");
  const out = await fixture.spawnBeckon(["status"]).stdout.text();
  expect(out).toContain("desk.json is damaged (not JSON)");
  expect(fixture.read(fixture.paths.alertState)).toBe("{");
});

test("an install keeps a damaged record of an earlier one", () => {
  damage("installed.json", '{"version":"0.0.9","files":[');
  const record = { version: "0.1.0", binary: "/opt/beckon", copy: null, home: null, programs: {} };
  writeInstallRecord(fixture.paths, { ...record, files: [], login: false, madeFolder: null });
  expect(readInstallRecord(fixture.paths)).toMatchObject({ version: "0.1.0" });
  expect(readAside("installed")).toBe('{"version":"0.0.9","files":[');
});
