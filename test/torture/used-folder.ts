/** A state folder as a killed beckon leaves it, and what the next start must show. */
import { expect } from "bun:test";
import { cpSync, lstatSync } from "node:fs";
import { createFixture, type Fixture } from "./fixture.ts";
import { doneSummary, eventsAfterAsk, eventsUntilAsk, summarizeSession, waitingSummary } from "./scenario.ts";

let template: Fixture | null = null;

/** With a snapshot, the previous one, and a journal with newer events. */
async function createTemplate(): Promise<Fixture> {
  const fixture = await createFixture();
  const runApp = async (payloads: readonly object[], end: "stop" | "kill") => {
    const app = await fixture.start();
    for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
    await app[end]();
  };
  await runApp(eventsUntilAsk("first", "make"), "stop");
  await runApp(eventsUntilAsk("second", "ls"), "stop");
  await runApp(eventsAfterAsk("first", "make", "made"), "kill");
  return fixture;
}

export async function createUsedFixture(): Promise<Fixture> {
  template ??= await createTemplate();
  const fixture = await createFixture();
  // The socket of a killed app cannot be copied.
  const filter = (path: string) => !lstatSync(path).isSocket();
  cpSync(template.home, fixture.home, { recursive: true, filter });
  return fixture;
}

export async function removeTemplate(): Promise<void> {
  await template?.destroy();
  template = null;
}

export async function expectAllSessions(fixture: Fixture): Promise<void> {
  const sessions = await fixture.status();
  expect(summarizeSession(sessions, "first")).toEqual(doneSummary("make", "made"));
  expect(summarizeSession(sessions, "second")).toEqual(waitingSummary("ls"));
}

/** Without these capabilities, the modes of files apply to root too. */
export const withoutPrivileges: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
export const privilegeTools = process.getuid?.() === 0 ? ["setpriv"] : [];
