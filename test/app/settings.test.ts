/** The settings over the API of a real app: read with their sources, saved at once, and never more than the page may change. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import type { SettingsView } from "../../src/core/config/setting-view.ts";
import { type AppFixture, createAppFixture } from "../app-fixture.ts";

let fixture: AppFixture;
beforeEach(() => {
  fixture = createAppFixture();
});
afterEach(() => fixture.destroy());

const text = '{\n  "// mine": 1,\n  "alerts": { "sound": false }\n}\n';

async function start(config: string | null = text): Promise<void> {
  await fixture.start({ BECKON_STREAM_PATH: "" });
  if (config !== null) writeFileSync(fixture.paths.config, config);
}

const read = async (): Promise<SettingsView> =>
  (await (await fixture.request("/api/settings")).json()) as SettingsView;

async function save(body: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fixture.post(body, "/api/settings/save");
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const find = ({ settings }: SettingsView, key: string) => settings.find((setting) => setting.key === key);

test("a save is in use when it is answered, and leaves the rest of the file alone", async () => {
  await start();
  const { version } = await read();
  const { status, body } = await save({
    version,
    set: { "alerts.finished": true, mutedProjects: ["playground"] },
    reset: ["alerts.sound"],
  });
  expect(status).toBe(200);
  const saved = body.settings as SettingsView;
  expect(find(saved, "alerts.finished")).toMatchObject({ value: true, source: { kind: "file", line: 3 } });
  expect(find(saved, "alerts.sound")).toMatchObject({ value: true, source: { kind: "default" } });
  expect(readFileSync(fixture.paths.config, "utf8")).toBe(
    '{\n  "// mine": 1,\n  "alerts": { "finished": true },\n  "mutedProjects": ["playground"]\n}\n',
  );
  expect(await read()).toEqual(saved);
});

test("without a file, the first save makes the one that lists every setting", async () => {
  await start(null);
  const { version, path } = await read();
  expect(path).toBe("~/state/config.json");
  expect((await save({ version, set: { "alerts.sound": false } })).status).toBe(200);
  expect(readFileSync(fixture.paths.config, "utf8")).toContain('"//sound": true,\n    "sound": false,');
});

test("a file that changed meanwhile is answered with what it says now, and not changed", async () => {
  await start();
  const { version } = await read();
  writeFileSync(fixture.paths.config, '{ "autoLaunch": false }');
  const { status, body } = await save({ version, set: { "alerts.sound": true } });
  expect([status, body.error]).toEqual([409, "config.json changed. Reload, or keep yours"]);
  expect(find(body.settings as SettingsView, "autoLaunch")?.value).toBe(false);
  expect(readFileSync(fixture.paths.config, "utf8")).toBe('{ "autoLaunch": false }');
});

test("one wrong value, and nothing is saved", async () => {
  await start();
  const { version } = await read();
  const set = { "alerts.sound": true, "alerts.longTurnMinutes": -5 };
  const { status, body } = await save({ version, set });
  expect(status).toBe(400);
  expect(body.mistakes).toEqual({
    "alerts.longTurnMinutes": "alerts.longTurnMinutes must be a number of minutes from 0 to 1440, not -5",
  });
  expect(readFileSync(fixture.paths.config, "utf8")).toBe(text);
});

test.each<[string, object]>([
  ["no version", { set: { "alerts.sound": true } }],
  ["a list in place of values", { version: "x", set: ["alerts.sound"] }],
  ["keys that are not texts", { version: "x", reset: [1] }],
])("a save with %s is refused", async (_, body) => {
  await start();
  expect((await save(body)).status).toBe(400);
  expect(readFileSync(fixture.paths.config, "utf8")).toBe(text);
});

// A program that has the token, but may not write the user's files, would get from this what it does not have.
test.each<[string, object]>([
  ["a rule that lets agents read", { set: { "answering.autoAllow": { "/home/dev/proj": ["Read"] } } }],
  ["a channel", { set: { channels: { evil: { type: "ntfy", topic: "t" } } } }],
  ["a file to write to", { set: { "stream.path": "/home/dev/.profile" } }],
  ["events to another machine", { set: { allowRemoteUrl: true } }],
  ["answers that the user turned off", { set: { "answering.enabled": true } }],
  ["answers that the user turned off, with a reset", { reset: ["answering.enabled"] }],
])("the page cannot turn on %s", async (_, changes) => {
  const off = '{ "answering": { "enabled": false } }';
  await fixture.start();
  writeFileSync(fixture.paths.config, off);
  await fixture.stopApps();
  await fixture.start();
  const { version } = await read();
  const { status, body } = await save({ version, ...changes });
  expect(status).toBe(403);
  expect(String(body.error)).toContain("beckon config");
  expect(readFileSync(fixture.paths.config, "utf8")).toBe(off);
});

test("no secret, and no address of a channel, is sent to the page", async () => {
  const channels = { phone: { type: "ntfy", topic: "secret-topic", server: "https://secret.example" } };
  await start(
    JSON.stringify({ channels, answering: { autoAllow: { "/home/dev/secret-project": ["Read"] } } }),
  );
  const answer = await (await fixture.request("/api/settings")).text();
  expect(answer).not.toContain("secret");
  expect(answer).not.toContain(fixture.readAuthorization().replace("Bearer ", ""));
});

test("a file that is not JSON is named with its line, and cannot be saved over", async () => {
  const broken = '{\n  "alerts": {\n';
  await start(broken);
  const { version, locked } = await read();
  expect(locked).toContain("line 3");
  expect((await save({ version, set: { "alerts.sound": true } })).status).toBe(400);
  expect(readFileSync(fixture.paths.config, "utf8")).toBe(broken);
});
