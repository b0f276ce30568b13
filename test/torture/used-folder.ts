/** A state folder as beckon leaves it when it is killed, and what must be shown of it after the next start. */
import { expect } from "bun:test";
import { cpSync } from "node:fs";
import { createFixture, type Fixture } from "./fixture.ts";
import { doneSummary, eventsAfterAsk, eventsUntilAsk, summarizeSession, waitingSummary } from "./scenario.ts";

let template: Fixture | null = null;

/** With a snapshot, the one before it, and a journal that has more. */
async function liveTwice(): Promise<Fixture> {
  const fixture = await createFixture();
  const live = async (payloads: readonly object[], end: "stop" | "kill") => {
    const app = await fixture.start();
    for (const payload of payloads) expect((await fixture.post(payload)).status).toBe(200);
    await app[end]();
  };
  await live(eventsUntilAsk("first", "make"), "stop");
  await live(eventsUntilAsk("second", "ls"), "stop");
  await live(eventsAfterAsk("first", "make", "made"), "kill");
  return fixture;
}

export async function createUsedFixture(): Promise<Fixture> {
  template ??= await liveTwice();
  const fixture = await createFixture();
  cpSync(template.home, fixture.home, { recursive: true });
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

/** Root obeys the modes of files only without these. */
export const withoutPrivileges: readonly string[] =
  process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];
export const privilegeTools = process.getuid?.() === 0 ? ["setpriv"] : [];
