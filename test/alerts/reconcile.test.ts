/** What is on the screen in the end, however slow the desktop is, and whether beckon, the user or the desktop closes it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AlertReconciler,
  createAlertReconciler,
  parseRemembered,
  type RememberedAlert,
} from "../../src/alerts/reconcile.ts";
import type { Notifier, Schedule } from "../../src/core/interfaces/index.ts";
import type { Alert } from "../../src/core/view/view.ts";

function alert(key: string, more: Partial<Alert> = {}): Alert {
  return {
    key,
    session: `claude:${key}`,
    kind: "blocked",
    urgency: "urgent",
    sound: true,
    title: `${key} wants to use Bash`,
    body: "npm test",
    since: 1,
    ...more,
  };
}

interface Shown {
  readonly alert: Alert;
  readonly handle: string;
}

interface Desktop {
  readonly screen: Map<string, Shown>;
  readonly calls: string[];
  readonly notifier: Notifier;
  readonly problems: string[];
  mostUnderWay(): number;
}

/** A desktop that takes its time: `wait` says how long. Handles name what is shown, as a real one's ids do. */
function desktop(wait: (what: string) => Promise<unknown> = () => Promise.resolve()): Desktop {
  const screen = new Map<string, Shown>();
  const calls: string[] = [];
  let count = 0;
  let underWay = 0;
  let most = 0;
  const take = async (what: string): Promise<void> => {
    calls.push(what);
    most = Math.max(most, ++underWay);
    try {
      await wait(what);
    } finally {
      underWay--;
    }
  };
  const notifier: Notifier = {
    async show(shown, handle) {
      await take(`show ${shown.key}${shown.sound ? " ♪" : ""}${handle ? ` in place of ${handle}` : ""}`);
      const same = screen.get(shown.key)?.handle ?? handle ?? `h${++count}`;
      screen.set(shown.key, { alert: shown, handle: same });
      return same;
    },
    async close(key) {
      await take(`close ${key}`);
      screen.delete(key);
    },
    async forget(handle) {
      await take(`forget ${handle}`);
      for (const [key, shown] of screen) if (shown.handle === handle) screen.delete(key);
    },
    isSilenced: async () => null,
    report: async () => ({ way: "a fake", server: null, abilities: null, namesAlerts: true, missing: null }),
    stop: async () => {},
  };
  return { screen, calls, notifier, problems: [], mostUnderWay: () => most };
}

/** Pauses are over soon. */
let pauses = 0;
const soon: Schedule = (work) => {
  pauses++;
  const timer = setImmediate(() => {
    pauses--;
    work();
  });
  return () => {
    clearImmediate(timer);
    pauses--;
  };
};
/** Pauses never end. */
const never: Schedule = () => () => {};

function alerterOn(desk: Desktop, remembered: readonly RememberedAlert[] = [], more = {}): AlertReconciler {
  const onProblem = (text: string) => void desk.problems.push(text);
  return createAlertReconciler(desk.notifier, {
    remembered,
    onProblem,
    now: () => performance.now(),
    schedule: soon,
    ...more,
  });
}

/** Until everything that was begun has ended: nothing here waits for a clock. */
async function rest(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Until every pause is over too. */
async function settle(): Promise<void> {
  for (await rest(); pauses > 0; await rest()) await new Promise((resolve) => setImmediate(resolve));
}

const titles = ({ screen }: Desktop) => [...screen.values()].map(({ alert: { title } }) => title).sort();

describe("shows exactly the wanted alerts", () => {
  test("an alert is shown once however often it is wanted, and closed when it is not wanted", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    for (let n = 0; n < 5; n++) alerter.want([alert("a")]);
    await rest();
    alerter.want([alert("a", { since: 2 })]);
    await rest();
    expect(desk.calls).toEqual(["show a ♪"]);
    alerter.want([]);
    await rest();
    expect(desk.calls).toEqual(["show a ♪", "close a"]);
    expect(desk.screen.size).toBe(0);
  });

  test("an alert of the last run stays as it is while it is not known whether it is wanted", async () => {
    const desk = desktop();
    const undecided = new Set(["a", "b"]);
    const remembered = [
      { key: "a", handle: "h9", gone: false },
      { key: "b", handle: null, gone: true },
    ];
    const alerter = alerterOn(desk, remembered, { isUndecided: (key: string) => undecided.has(key) });
    alerter.want([]);
    await rest();
    expect(desk.calls).toEqual([]);
    undecided.clear();
    alerter.want([alert("b")]);
    await rest();
    expect(desk.calls).toEqual(["forget h9"]);
  });

  test("a changed text replaces the alert without a sound", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([alert("a", { title: "a needs your permission" })]);
    await rest();
    alerter.want([alert("a")]);
    await rest();
    expect(desk.calls).toEqual(["show a ♪", "show a in place of h1"]);
    expect(titles(desk)).toEqual(["a wants to use Bash"]);
  });

  test("an ask answered before the desktop shows its alert leaves nothing behind", async () => {
    const slow = Promise.withResolvers<void>();
    const desk = desktop(() => slow.promise);
    const alerter = alerterOn(desk);
    alerter.want([alert("a")]);
    alerter.want([]);
    slow.resolve();
    await rest();
    expect(desk.screen.size).toBe(0);
    expect(desk.calls).toEqual(["show a ♪", "close a"]);
  });

  test("an alert is shown again, with sound, when a snooze ends", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    for (const wanted of [[alert("a")], [], [alert("a")]]) {
      alerter.want(wanted);
      await rest();
    }
    expect(desk.calls).toEqual(["show a ♪", "close a", "show a ♪"]);
  });

  test("a failed alert is tried again, and the problem is reported", async () => {
    let isDown = true;
    const desk = desktop(async (what) => {
      if (isDown && what.startsWith("show")) throw new Error("the bus is gone");
    });
    const alerter = alerterOn(desk);
    alerter.want([alert("a")]);
    await rest();
    expect(desk.problems).toEqual([
      'could not show the alert "a wants to use Bash", trying again soon: Error: the bus is gone',
    ]);
    isDown = false;
    const shown = Promise.withResolvers<void>();
    const look = setInterval(() => desk.screen.has("a") && shown.resolve(), 1);
    await shown.promise;
    clearInterval(look);
    expect(titles(desk)).toEqual(["a wants to use Bash"]);
  });

  test("an alert whose show failed but may be visible is closed too", async () => {
    const desk = desktop(async (what) => {
      if (what.startsWith("show")) throw new Error("no answer in time");
    });
    const alerter = alerterOn(desk, [], { schedule: never });
    alerter.want([alert("a")]);
    await rest();
    alerter.want([]);
    await rest();
    expect(desk.calls).toEqual(["show a ♪", "close a"]);
    alerter.stop();
  });
});

describe("a closed alert stays closed", () => {
  test("if the user closed it or it expired", async () => {
    for (const by of ["user", "expired"] as const) {
      const desk = desktop();
      const alerter = alerterOn(desk);
      alerter.want([alert("a"), alert("b")]);
      await rest();
      desk.screen.delete("a");
      alerter.closed("a", by);
      alerter.want([alert("a", { title: "another text" }), alert("b")]);
      await rest();
      expect([...desk.screen.keys()]).toEqual(["b"]);
      expect(desk.calls).toEqual(["show a ♪", "show b ♪"]);
    }
  });

  test("but an alert lost with the notification service is shown again", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([alert("a"), alert("b")]);
    await rest();
    desk.screen.clear();
    alerter.closed("a", "unknown");
    await rest();
    expect([...desk.screen.keys()]).toEqual(["a"]);
    alerter.want([alert("a")]);
    alerter.closed("b", "unknown");
    await rest();
    expect([...desk.screen.keys()]).toEqual(["a"]);
  });

  test("also if it was closed while it was being replaced", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([alert("a")]);
    await rest();
    alerter.want([alert("a", { body: "npm run deploy" })]);
    desk.screen.delete("a");
    alerter.closed("a", "user");
    await rest();
    expect(desk.screen.size).toBe(0);
  });

  test("but an alert closed before its show was confirmed is shown when it is wanted again", async () => {
    const slow = Promise.withResolvers<void>();
    const desk = desktop(() => slow.promise);
    const alerter = alerterOn(desk);
    alerter.want([alert("a")]);
    alerter.want([]);
    alerter.closed("a", "user");
    alerter.want([alert("a")]);
    slow.resolve();
    await rest();
    expect(desk.calls).toEqual(["show a ♪", "show a ♪ in place of h1"]);
  });

  const crowd = (...covers: string[]) => alert("more:blocked", { title: `${covers.length} more`, covers });

  test("a closed group: its members stay closed, a new one is shown", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([crowd("a", "b")]);
    await rest();
    desk.screen.delete("more:blocked");
    alerter.closed("more:blocked", "user");
    alerter.want([alert("a"), crowd("a", "b")]);
    await rest();
    expect(desk.screen.size).toBe(0);
    alerter.want([crowd("a", "b", "c")]);
    await rest();
    expect(titles(desk)).toEqual(["3 more"]);
  });

  test("a closed group with other members but the same text: each is counted by its own key", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([crowd("a", "b")]);
    await rest();
    alerter.want([crowd("b", "c")]);
    await rest();
    expect(desk.calls).toHaveLength(1);
    desk.screen.delete("more:blocked");
    alerter.closed("more:blocked", "expired");
    await rest();
    expect(desk.calls).toHaveLength(1);
    expect(alerter.remembered()).toEqual([
      { key: "more:blocked", handle: null, gone: true, covers: ["b", "c"] },
    ]);
  });

  test("a quiet group that shrinks to one session is closed, and that one is not announced again", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    const quiet = { kind: "idle", urgency: "low", sound: false } as const;
    alerter.want([alert("more:done", { ...quiet, covers: ["a", "b"] })]);
    await rest();
    alerter.want([alert("a", quiet)]);
    await rest();
    expect([...desk.screen.keys()]).toEqual([]);
    alerter.want([]);
    alerter.want([alert("a", quiet)]);
    await rest();
    expect([...desk.screen.keys()]).toEqual(["a"]);
  });
  test("an expired group: each member may still get its own alert", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk);
    alerter.want([crowd("a", "b", "c")]);
    await rest();
    desk.screen.delete("more:blocked");
    alerter.closed("more:blocked", "expired");
    alerter.want([alert("a"), crowd("b", "c")]);
    await rest();
    expect([...desk.screen.keys()]).toEqual(["a"]);
  });
});

describe("after a restart", () => {
  async function nextRun(
    before: (alerter: AlertReconciler, desk: Desktop) => void,
  ): Promise<[Desktop, AlertReconciler]> {
    const desk = desktop();
    const first = alerterOn(desk);
    first.want([alert("a"), alert("b")]);
    await rest();
    before(first, desk);
    await rest();
    const remembered = parseRemembered(JSON.parse(JSON.stringify(first.remembered())));
    first.stop();
    desk.calls.length = 0;
    return [desk, alerterOn(desk, remembered)];
  }

  test("alerts still wanted replace the old ones silently; the others are closed", async () => {
    const [desk, alerter] = await nextRun(() => {});
    alerter.want([alert("a")]);
    await rest();
    expect(desk.calls).toEqual(["show a in place of h1", "forget h2"]);
    expect([...desk.screen.keys()]).toEqual(["a"]);
    expect(alerter.remembered()).toEqual([{ key: "a", handle: "h1", gone: false }]);
  });

  test("an alert that the user had closed is not shown again", async () => {
    const [desk, alerter] = await nextRun((first, { screen }) => {
      screen.delete("a");
      first.closed("a", "user");
    });
    alerter.want([alert("a"), alert("b")]);
    await rest();
    expect([...desk.screen.keys()]).toEqual(["b"]);
  });

  test("nothing is shown, closed or forgotten before the wanted alerts are known", async () => {
    const [desk, alerter] = await nextRun(() => {});
    alerter.closed("b", "expired");
    await rest();
    expect(desk.calls).toEqual([]);
    expect(alerter.remembered()).toEqual([{ key: "a", handle: "h1", gone: false }]);
  });

  test("a damaged file is read as far as possible", () => {
    const good = { key: "a", handle: null, gone: true };
    expect(parseRemembered([good, { key: 1 }, null, "x", { ...good, handle: 5 }])).toEqual([good]);
    for (const odd of [null, {}, 5, "text"]) expect(parseRemembered(odd)).toEqual([]);
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseRemembered(value)));
  });
});

describe("nothing piles up", () => {
  test("after 10,000 changes before a slow desktop answers, the last one is shown", async () => {
    const slow = Promise.withResolvers<void>();
    const desk = desktop(() => slow.promise);
    const alerter = alerterOn(desk);
    for (let n = 0; n < 10_000; n++) {
      alerter.want([alert("same", { body: `${n}` }), alert(`ask-${n % 3_000}`)]);
    }
    expect(desk.calls.length).toBeLessThan(10);
    slow.resolve();
    await rest();
    expect([...desk.screen.keys()].sort()).toEqual(["ask-999", "same"]);
    expect(desk.screen.get("same")?.alert.body).toBe("9999");
    expect(desk.calls.length).toBeLessThan(30);
    expect(desk.mostUnderWay()).toBeLessThanOrEqual(8);
    expect(alerter.remembered()).toHaveLength(2);
  });

  test("alerts that ended before a hanging desktop showed them are forgotten", () => {
    const desk = desktop(() => new Promise(() => {}));
    let changes = 0;
    const alerter = alerterOn(desk, [], { onChange: () => void changes++ });
    const many = Array.from({ length: 100 }, (_, n) => alert(`ask-${n}`));
    alerter.want(many);
    alerter.want([]);
    for (const { key } of many) alerter.closed(key, "unknown");
    expect(desk.calls).toHaveLength(8);
    expect(changes).toBe(8);
  });

  test("a text that changes all the time is updated on the screen at intervals", async () => {
    const desk = desktop();
    const alerter = alerterOn(desk, [], { schedule: never });
    for (let n = 0; n < 1_000; n++) {
      alerter.want([alert("a", { body: `${n}` })]);
      await Promise.resolve();
    }
    await rest();
    expect(desk.calls).toEqual(["show a ♪", "show a in place of h1"]);
    alerter.stop();
  });

  test("in the end exactly the wanted alerts are shown, however calls and clicks interleave", async () => {
    const keys = ["a", "b", "c", "d", "e"];
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("want" as const),
        wanted: fc.uniqueArray(
          fc.record({ key: fc.constantFrom(...keys), body: fc.constantFrom("one", "two") }),
          { selector: ({ key }) => key, maxLength: keys.length },
        ),
      }),
      fc.record({ kind: fc.constant("closed" as const), key: fc.constantFrom(...keys) }),
      fc.record({ kind: fc.constant("answer" as const), count: fc.integer({ min: 1, max: 3 }) }),
    );
    const left = fc.uniqueArray(fc.constantFrom(...keys, "old"), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        left,
        fc.scheduler(),
        async (steps, leftBehind, s) => {
          const desk = desktop((what) => s.schedule(Promise.resolve(), what));
          const remembered = leftBehind.map(
            (key): RememberedAlert => ({ key, handle: `left-${key}`, gone: false }),
          );
          for (const { key, handle } of remembered) {
            desk.screen.set(key, { alert: alert(key, { body: "left" }), handle: handle ?? "" });
          }
          const alerter = alerterOn(desk, remembered);
          let wanted: readonly Alert[] = [];
          const closed = new Set<string>();
          for (const one of steps) {
            if (one.kind === "want") {
              wanted = one.wanted.map(({ key, body }) => alert(key, { body }));
              for (const key of closed) if (!wanted.some((w) => w.key === key)) closed.delete(key);
              alerter.want(wanted);
            } else if (one.kind === "answer") {
              for (let n = 0; n < one.count && s.count() > 0; n++) await s.waitOne();
            } else if (desk.screen.delete(one.key)) {
              if (wanted.some((w) => w.key === one.key)) closed.add(one.key);
              alerter.closed(one.key, "user");
            }
          }
          alerter.want(wanted);
          for (await rest(); s.count() > 0 || pauses > 0; await rest()) {
            await s.waitAll();
            await new Promise((resolve) => setImmediate(resolve));
          }
          const expected = wanted.filter(({ key }) => !closed.has(key));
          expect([...desk.screen].map(([key, shown]) => `${key} ${shown.alert.body}`).sort()).toEqual(
            expected.map(({ key, body }) => `${key} ${body}`).sort(),
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

test("an ask that can be answered a moment later gets its buttons in place", async () => {
  const { screen, calls, notifier } = desktop();
  const alerter = createAlertReconciler(notifier, {
    onProblem: () => {},
    now: () => performance.now(),
    schedule: soon,
  });
  const action = { do: "focus", session: "claude:a" } as const;
  const buttons = [{ id: "allow@a", label: "Allow", action, needsAll: true }];
  alerter.want([alert("a")]);
  await settle();
  alerter.want([alert("a", { buttons })]);
  await settle();
  expect(screen.get("a")?.alert.buttons).toEqual(buttons);
  expect(calls).toEqual(["show a ♪", "show a in place of h1"]);
  alerter.want([alert("a")]);
  await settle();
  expect(screen.get("a")?.alert.buttons).toBeUndefined();
  alerter.stop();
});
