/** What is new about this machine's sessions, as the machines that follow it are told. */
import { expect, test } from "bun:test";
import type { Session } from "../../src/core/session/session.ts";
import { createSessionNews } from "../../src/machines/session-news.ts";
import { blocked, minute, now } from "../core/view/menu/fixture.ts";

test("an ask that is answered at once is told too, before the session without it", () => {
  const asking: Session = blocked("shop", minute);
  const idle: Session = { ...asking, asks: [] };
  let current = idle;
  const told: string[] = [];
  let flush = () => {};
  const news = createSessionNews<never>({
    clock: () => ({ ...now, boot: "boot", host: "host" }),
    get: () => current,
    pending: { details: () => null, maskedDetails: () => null },
    isFollowed: () => true,
    tell(message) {
      if (message.kind === "session") told.push(JSON.stringify(message.described.session.asks));
      else told.push(message.kind);
    },
    schedule(work) {
      flush = work;
      return () => {};
    },
    onProblem() {},
  });
  const change = (next: Session) => {
    current = next;
    news.onChange(next);
  };
  change(idle);
  flush();
  expect(told.splice(0)).toEqual(["[]"]);

  // A rule answers it before anything is told.
  news.onAskOpened(asking);
  change(asking);
  change({ ...idle, detail: "Bash" });
  flush();
  expect(told.splice(0)).toEqual([JSON.stringify(asking.asks), "[]"]);

  // One that is still open is told once.
  current = asking;
  news.onAskOpened(asking);
  flush();
  expect(told).toEqual([JSON.stringify(asking.asks)]);
});

test("a change is told at once after a look that found nothing new", () => {
  const session = blocked("shop", minute);
  let current: Session = session;
  let t = now.t;
  const delays: number[] = [];
  let flush = () => {};
  const news = createSessionNews<never>({
    clock: () => ({ ...now, t, boot: "boot", host: "host" }),
    get: () => current,
    pending: { details: () => null, maskedDetails: () => null },
    isFollowed: () => true,
    tell() {},
    schedule(work, ms) {
      delays.push(ms);
      flush = work;
      return () => {};
    },
    onProblem() {},
  });
  const look = (next: Session, ms: number) => {
    t += ms;
    current = next;
    news.onChange(next);
    const delay = delays.at(-1);
    flush();
    return delay;
  };
  look(session, 0);
  expect(look(session, 1_000)).toBe(0);
  expect(look({ ...session, detail: "one" }, 5)).toBe(0);
  // What was told a moment ago is followed by the rest of it together.
  expect(look({ ...session, detail: "two" }, 5)).toBe(10);
});
