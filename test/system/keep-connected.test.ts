import { describe, expect, test } from "bun:test";
import type { Schedule } from "../../src/core/interfaces/index.ts";
import {
  type Attempt,
  ConnectionError,
  type FailedAttempt,
  type KeepConnectedOptions,
  keepConnected,
} from "../../src/system/keep-connected.ts";
import { createVirtualTime } from "../virtual-time.ts";

/** A connection whose end the test decides. */
interface Opened {
  readonly attempt: Attempt;
  readonly t: number;
  /** Lets `connect` resolve, or reject with the error. */
  end(error?: Error): void;
}

function createFixture(options: Partial<KeepConnectedOptions> = {}) {
  const time = createVirtualTime();
  const startedT = time.clock().t;
  const opened: Opened[] = [];
  const problems: string[] = [];
  const failed: FailedAttempt[] = [];
  const timers = new Set<object>();
  const schedule: Schedule = (work, ms) => {
    const timer = {};
    timers.add(timer);
    const cancel = time.schedule(() => {
      timers.delete(timer);
      work();
    }, ms);
    return () => {
      timers.delete(timer);
      cancel();
    };
  };
  const connection = keepConnected({
    connect(attempt) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const end = (error?: Error) => (error ? reject(error) : resolve());
      attempt.signal.addEventListener("abort", () => end());
      opened.push({ attempt, t: time.clock().t - startedT, end });
      return promise;
    },
    backoff: { firstMs: 1_000, maxMs: 60_000 },
    onProblem: (reason) => problems.push(reason),
    onFailure: (failure) => failed.push(failure),
    schedule,
    now: () => time.clock().t,
    ...options,
  });
  const last = () => opened.at(-1) as Opened;
  return { ...time, connection, opened, last, problems, failed, timers };
}

type Fixture = ReturnType<typeof createFixture>;

/** Fails every attempt for this long. */
async function failFor(fixture: Fixture, ms: number, error: Error): Promise<void> {
  for (let passedMs = 0; passedMs <= ms; passedMs += 500) {
    await fixture.advance(passedMs === 0 ? 0 : 500);
    fixture.last().end(error);
  }
  await fixture.advance(0);
}

describe("a connection that cannot be opened", () => {
  test("is tried less and less often, and its problem is reported once", async () => {
    const fixture = createFixture();
    await failFor(fixture, 31_000, new Error("it cannot be reached"));
    expect(fixture.opened.map(({ t }) => t)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000]);
    expect(fixture.connection.problem()).toBe("it cannot be reached");
    expect(fixture.problems).toEqual(["it cannot be reached"]);
    expect(fixture.failed[1]).toEqual({ reason: "it cannot be reached", failures: 2, retryMs: 2_000 });
  });

  test("gets the pause that the server asks for", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    fixture.last().end(new ConnectionError("too many requests", { retryAfterMs: 30_000 }));
    await fixture.advance(29_999);
    expect(fixture.opened).toHaveLength(1);
    await fixture.advance(1);
    expect(fixture.opened).toHaveLength(2);
  });

  test("returns at another moment than the other clients of its server", async () => {
    const fixture = createFixture({
      backoff: { firstMs: 1_000, maxMs: 60_000, jitter: 0.5 },
      random: () => 0.5,
    });
    await failFor(fixture, 1_500, new Error("down"));
    expect(fixture.failed.map(({ retryMs }) => retryMs)).toEqual([750, 1_500]);
  });

  test("whose attempt throws instead of rejecting is tried again too", async () => {
    let attempts = 0;
    const fixture = createFixture({
      connect() {
        attempts++;
        throw new Error("no such program");
      },
    });
    await fixture.advance(1_000);
    expect(attempts).toBe(2);
    expect(fixture.problems).toEqual(["no such program"]);
  });
});

describe("a permanent failure", () => {
  const badToken = new ConnectionError("the token is not valid", { isPermanent: true });

  test("stops the attempts and is reported once, until another attempt is asked for", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    fixture.last().end(badToken);
    await fixture.advance(10 * 3_600_000);
    expect(fixture.opened).toHaveLength(1);
    expect(fixture.connection.problem()).toBe("the token is not valid");
    fixture.connection.retryNow();
    await fixture.advance(0);
    expect(fixture.opened).toHaveLength(2);
    fixture.last().end(badToken);
    await fixture.advance(10 * 3_600_000);
    expect(fixture.opened).toHaveLength(2);
    expect(fixture.problems).toEqual(["the token is not valid"]);
    expect(fixture.failed.map(({ retryMs }) => retryMs)).toEqual([null, null]);
  });

  test("is tried again after a long pause where the user may repair it elsewhere", async () => {
    const fixture = createFixture({ permanentRetryMs: 300_000 });
    await fixture.advance(0);
    fixture.last().end(badToken);
    await fixture.advance(299_999);
    expect(fixture.opened).toHaveLength(1);
    await fixture.advance(1);
    expect(fixture.opened).toHaveLength(2);
  });
});

describe("a connection that was open", () => {
  test("and is lost is opened again after the first pause, and is a problem only if that fails", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    fixture.last().attempt.onConnected();
    await fixture.advance(10_000);
    fixture.last().end(new Error("it was closed"));
    await fixture.advance(0);
    expect(fixture.connection.problem()).toBeNull();
    await fixture.advance(1_000);
    expect(fixture.opened).toHaveLength(2);
    fixture.last().end(new Error("it cannot be reached"));
    await fixture.advance(0);
    expect(fixture.connection.problem()).toBe("it cannot be reached");
    expect(fixture.problems).toEqual(["it cannot be reached"]);
  });

  test("and is lost in a way that is not routine is a problem at once", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    fixture.last().attempt.onConnected();
    fixture.last().end(new ConnectionError("it stopped answering", { isRoutine: false }));
    await fixture.advance(0);
    expect(fixture.problems).toEqual(["it stopped answering"]);
  });

  test("has no problem any more, but one that keeps ending is reported once and is opened less and less often", async () => {
    const fixture = createFixture();
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      await fixture.advance(round === 0 ? 0 : 1_000 * 2 ** (round - 1));
      times.push(fixture.last().t);
      fixture.last().attempt.onConnected();
      expect(fixture.connection.problem()).toBeNull();
      fixture.last().end(new Error("it was closed"));
    }
    await fixture.advance(0);
    expect(times).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
    expect(fixture.problems).toEqual(["it was closed"]);
  });

  test("counts as healthy only after it stayed open for a while", async () => {
    const fixture = createFixture();
    await failFor(fixture, 3_000, new Error("down"));
    await fixture.advance(4_000);
    fixture.last().attempt.onConnected();
    await fixture.advance(9_999);
    fixture.last().end(new Error("it was closed"));
    await fixture.advance(0);
    expect(fixture.failed.at(-1)).toMatchObject({ failures: 4, retryMs: 8_000 });
    await fixture.advance(8_000);
    fixture.last().attempt.onConnected();
    await fixture.advance(10_000);
    fixture.last().end(new Error("it was closed"));
    await fixture.advance(0);
    expect(fixture.failed.at(-1)).toMatchObject({ failures: 1, retryMs: 1_000 });
  });

  test("and ends as planned is opened again at once, or after a pause if it had just been opened", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    fixture.last().attempt.onConnected();
    await fixture.advance(10_000);
    fixture.last().end();
    await fixture.advance(0);
    expect(fixture.opened.map(({ t }) => t)).toEqual([0, 10_000]);
    fixture.last().attempt.onConnected();
    fixture.last().end();
    await fixture.advance(999);
    expect(fixture.opened).toHaveLength(2);
    await fixture.advance(1);
    expect(fixture.opened.at(-1)).toMatchObject({ t: 11_000, attempt: { failures: 0 } });
    expect(fixture.problems).toEqual([]);
  });
});

describe("a deadline", () => {
  const silent = { ms: 15_000, error: new Error("it does not answer") };

  test("ends a connection that is silent, even if that never notices", async () => {
    const fixture = createFixture({
      connect(attempt) {
        attempts.push(attempt);
        attempt.setDeadline(silent);
        return new Promise(() => {});
      },
    });
    const attempts: Attempt[] = [];
    await fixture.advance(15_000);
    expect(attempts[0]?.signal.aborted).toBe(true);
    expect(fixture.problems).toEqual(["it does not answer"]);
    await fixture.advance(1_000);
    expect(attempts).toHaveLength(2);
  });

  test("can be set again and removed, and ends with its connection", async () => {
    const fixture = createFixture();
    await fixture.advance(0);
    const [{ attempt }] = fixture.opened as [Opened];
    attempt.setDeadline(silent);
    await fixture.advance(14_000);
    attempt.setDeadline(silent);
    await fixture.advance(14_000);
    attempt.setDeadline(null);
    await fixture.advance(60_000);
    expect(attempt.signal.aborted).toBe(false);
    attempt.setDeadline(silent);
    fixture.last().end(new Error("closed"));
    await fixture.advance(1_000);
    // A late event of the old connection must not touch the new one.
    attempt.setDeadline(silent);
    attempt.onConnected();
    await fixture.advance(60_000);
    expect(fixture.opened).toHaveLength(2);
    expect(fixture.connection.problem()).toBe("closed");
  });
});

test("another attempt can be asked for during a pause", async () => {
  const fixture = createFixture();
  await failFor(fixture, 31_000, new Error("the network is gone"));
  const count = fixture.opened.length;
  fixture.connection.retryNow();
  await fixture.advance(0);
  expect(fixture.opened).toHaveLength(count + 1);
  // While an attempt is under way, there is nothing to cut short.
  fixture.connection.retryNow();
  await fixture.advance(0);
  expect(fixture.opened).toHaveLength(count + 1);
});

describe("stop", () => {
  const stages: Record<string, (fixture: Fixture) => Promise<void>> = {
    "before the first attempt": async () => {},
    "while it is being opened": async (fixture) => {
      await fixture.advance(0);
      fixture.last().attempt.setDeadline({ ms: 5_000, error: new Error("late") });
    },
    "while it is open": async (fixture) => {
      await fixture.advance(0);
      fixture.last().attempt.onConnected();
    },
    "during a pause": async (fixture) => {
      await fixture.advance(0);
      fixture.last().end(new Error("down"));
      await fixture.advance(0);
    },
    "after a permanent failure": async (fixture) => {
      await fixture.advance(0);
      fixture.last().end(new ConnectionError("bad token", { isPermanent: true }));
      await fixture.advance(0);
    },
  };

  test.each(Object.entries(stages))("%s leaves no timer and no attempt", async (_name, reach) => {
    const fixture = createFixture();
    await reach(fixture);
    const before = fixture.opened.length;
    const problems = [...fixture.problems];
    await fixture.connection.stop();
    expect(fixture.timers.size).toBe(0);
    fixture.connection.retryNow();
    await fixture.advance(3_600_000);
    expect(fixture.opened).toHaveLength(before);
    expect(fixture.problems).toEqual(problems);
    expect(fixture.connection.problem()).toBeNull();
  });

  test("waits until the connection has ended", async () => {
    const closed = Promise.withResolvers<void>();
    const fixture = createFixture({ connect: () => closed.promise });
    await fixture.advance(0);
    let isStopped = false;
    const stopped = fixture.connection.stop().then(() => {
      isStopped = true;
    });
    await fixture.advance(0);
    expect(isStopped).toBe(false);
    closed.resolve();
    await stopped;
  });
});
