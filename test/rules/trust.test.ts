/** How trust in a session ends: nothing that happens to the clock or to the session makes it longer. */
import { expect, test } from "bun:test";
import { createInternalEvent, type Place } from "../../src/core/session/event.ts";
import { createSession, type Session } from "../../src/core/session/session.ts";
import { hourMs, minuteMs } from "../../src/core/timing.ts";
import { createTrusts } from "../../src/rules/trust.ts";

const start = { at: 1_790_000_000_000, t: 5_000 };
const place = { local: true, pid: 7, procStart: "1", tty: null, terminalSessionId: null, env: {} };

function createFixture() {
  const clock = { ...start };
  const trusts = createTrusts({ clock: () => clock, formatTime: String, onChange() {} });
  const about = { agent: "claude", sessionId: "s-1" };
  const event = createInternalEvent("1", start, about, { kind: "no-change" });
  const session: Session = { ...createSession(event), place, permissionMode: "default" };
  trusts.start(session, start.at + 30 * minuteMs);
  const subject = { kind: "command", command: "make", cwd: "/p" } as const;
  const isTrusted = (changed: Partial<Session> = {}): boolean =>
    trusts.judge({ agent: "claude", session: { ...session, ...changed }, subject, project: "/p" }) !== null;
  return { clock, trusts, session, isTrusted };
}

test("a session is trusted until the time that the user named", () => {
  const { clock, isTrusted } = createFixture();
  expect(isTrusted()).toBe(true);
  clock.at += 30 * minuteMs;
  expect(isTrusted()).toBe(false);
});

test("a clock that is set back does not make trust longer", () => {
  const { clock, trusts, isTrusted } = createFixture();
  clock.at -= 3 * hourMs;
  clock.t += 29 * minuteMs;
  expect(isTrusted()).toBe(true);
  clock.t += minuteMs;
  expect(isTrusted()).toBe(false);
  expect(trusts.list()).toEqual([]);
});

test("the same session is not trusted in another process: it was opened again, or a second time", () => {
  const { trusts, session, isTrusted } = createFixture();
  const other: Place = { ...place, pid: 8 };
  expect(isTrusted({ place: other })).toBe(false);
  expect(isTrusted({ place: { ...place, procStart: "2" } })).toBe(false);
  expect(isTrusted({ place: { ...place, procStart: null } })).toBe(true);
  trusts.follow({ ...session, place: other });
  expect(isTrusted()).toBe(false);
});
