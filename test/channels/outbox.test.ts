/** Delivery: retried with pauses, newest state wins, nothing is sent twice, and what is too old is dropped. */
import { describe, expect, test } from "bun:test";
import { type ChannelMessage, DeliveryError } from "../../src/channels/channel.ts";
import { createOutbox, type OutboxOptions } from "../../src/channels/outbox.ts";
import { minuteMs } from "../../src/core/timing.ts";
import { createVirtualTime } from "../virtual-time.ts";

const createMessage = (key: string, text = "npm test"): ChannelMessage => ({
  key,
  session: "claude:1",
  title: "shop wants to use Bash",
  lines: [text],
  urgency: "urgent",
  buttons: [],
  replyReference: null,
  replyHint: null,
  isFinal: false,
  link: null,
});

const never = Number.POSITIVE_INFINITY;

function createFixture(options: Partial<OutboxOptions> = {}) {
  const time = createVirtualTime();
  const calls: string[] = [];
  const ids: string[] = [];
  const problems: string[] = [];
  const dropped: string[] = [];
  const failures: (DeliveryError | "hang")[] = [];
  let onDisk: unknown = [];
  async function take(call: string): Promise<void> {
    calls.push(call);
    const failure = failures.shift();
    if (failure === "hang") await new Promise(() => {});
    else if (failure) throw failure;
  }
  const outbox = createOutbox({
    channel: {
      async send({ key, lines }, id) {
        ids.push(id);
        await take(`send ${key} ${lines[0]}`);
        return `handle-${key}`;
      },
      update: (handle, { lines }) => take(`update ${handle} ${lines[0]}`),
    },
    isIdempotent: false,
    saved: [],
    clock: time.clock,
    schedule: time.schedule,
    onChange() {},
    flush() {
      onDisk = JSON.parse(JSON.stringify(outbox.saved()));
    },
    onSent: (key) => calls.push(`sent ${key}`),
    onDropped: (key, reason) => dropped.push(`${key}: ${reason}`),
    onProblem: (text) => problems.push(text),
    requestMs: 30_000,
    ...options,
  });
  return { ...time, outbox, calls, ids, problems, dropped, failures, readDisk: () => onDisk };
}

const put = ({ outbox }: ReturnType<typeof createFixture>, key: string, text?: string, deadlineAt = never) =>
  outbox.put(createMessage(key, text), `content of ${text}`, deadlineAt);

describe("a message", () => {
  test("is sent once, however often it is put, and updated when it changes", async () => {
    const fixture = createFixture();
    put(fixture, "a", "one");
    put(fixture, "a", "one");
    await fixture.advance(0);
    put(fixture, "a", "two");
    await fixture.advance(0);
    expect(fixture.calls).toEqual(["send a one", "sent a", "update handle-a two"]);
  });

  test("that changes while it is being sent is updated afterwards, with its newest state only", async () => {
    const fixture = createFixture();
    put(fixture, "a", "one");
    put(fixture, "a", "two");
    put(fixture, "a", "three");
    await fixture.advance(0);
    expect(fixture.calls).toEqual(["send a one", "sent a", "update handle-a three"]);
  });

  test("whose ask ends before it could be sent is never sent", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("down"));
    put(fixture, "a");
    await fixture.advance(0);
    fixture.outbox.finish("a", createMessage("a", "Allowed"), "allowed");
    await fixture.advance(10 * minuteMs);
    expect(fixture.calls).toEqual(["send a npm test"]);
    expect(fixture.outbox.saved()).toEqual([]);
  });

  test("whose ask ends while it is being sent gets its last state, and is then forgotten", async () => {
    const fixture = createFixture();
    put(fixture, "a");
    fixture.outbox.finish("a", createMessage("a", "Allowed"), "allowed");
    await fixture.advance(0);
    expect(fixture.calls).toEqual(["send a npm test", "sent a", "update handle-a Allowed"]);
    expect(fixture.outbox.saved()).toEqual([]);
  });
});

describe("a service that fails", () => {
  test("is asked again after 1, 2, 4 and 8 seconds, with the same id", async () => {
    const fixture = createFixture();
    fixture.failures.push(...Array.from({ length: 4 }, () => new DeliveryError("down")));
    put(fixture, "a");
    const counts: number[] = [];
    for (const ms of [0, 1_000, 2_000, 4_000, 8_000]) {
      await fixture.advance(ms - 1);
      const before = fixture.ids.length;
      await fixture.advance(1);
      counts.push(fixture.ids.length - (ms === 0 ? 0 : before));
    }
    expect(counts).toEqual([1, 1, 1, 1, 1]);
    expect(new Set(fixture.ids).size).toBe(1);
    expect(fixture.calls.at(-1)).toBe("sent a");
    expect(fixture.problems).toEqual([]);
  });

  test("gets the pause that it asks for", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("429", { retryAfterMs: 30_000 }));
    put(fixture, "a");
    await fixture.advance(29_999);
    expect(fixture.ids).toHaveLength(1);
    await fixture.advance(1);
    expect(fixture.calls.at(-1)).toBe("sent a");
  });

  test.each([1e12, Number.POSITIVE_INFINITY])(
    "is asked again after an hour if it asks for %d ms",
    async (ms) => {
      const fixture = createFixture();
      fixture.failures.push(new DeliveryError("429", { retryAfterMs: ms }));
      put(fixture, "a");
      await fixture.advance(60 * minuteMs - 1);
      expect(fixture.ids).toHaveLength(1);
      await fixture.advance(1);
      expect(fixture.calls.at(-1)).toBe("sent a");
    },
  );

  test("is left alone for a minute after five failures in a row; the log says so once, and when it works again", async () => {
    const fixture = createFixture();
    fixture.failures.push(...Array.from({ length: 7 }, () => new DeliveryError("down")));
    put(fixture, "a");
    await fixture.advance(15_000);
    expect(fixture.ids).toHaveLength(5);
    await fixture.advance(minuteMs - 1);
    expect(fixture.ids).toHaveLength(5);
    expect(fixture.outbox.problem()).toBe("down");
    await fixture.advance(1 + 2 * minuteMs + 5 * minuteMs);
    expect(fixture.calls.at(-1)).toBe("sent a");
    expect(fixture.problems).toEqual([
      "5 failures in a row, so it pauses between attempts: down",
      "it works again",
    ]);
    expect(fixture.outbox.problem()).toBeNull();
  });

  test("does not hold up other messages with one that always fails", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("bad text"));
    put(fixture, "a");
    put(fixture, "b");
    await fixture.advance(1_000);
    expect(fixture.calls).toEqual([
      "send a npm test",
      "send b npm test",
      "sent b",
      "send a npm test",
      "sent a",
    ]);
  });

  test("that refuses a message is not asked again, and the reason is reported", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("wrong token", { isPermanent: true }));
    put(fixture, "a", "one");
    await fixture.advance(0);
    put(fixture, "a", "two");
    await fixture.advance(10 * minuteMs);
    expect(fixture.ids).toHaveLength(1);
    expect(fixture.dropped).toEqual(["a: wrong token"]);
    fixture.outbox.finish("a", null, "");
    expect(fixture.outbox.saved()).toEqual([]);
  });

  test("and hangs is given up after its deadline, so the next message goes out", async () => {
    const fixture = createFixture({ isIdempotent: true });
    fixture.failures.push("hang");
    put(fixture, "a");
    put(fixture, "b");
    await fixture.advance(30_000);
    await fixture.advance(1_000);
    expect(fixture.calls).toEqual([
      "send a npm test",
      "send b npm test",
      "sent b",
      "send a npm test",
      "sent a",
    ]);
    expect(fixture.ids[0]).toBe(fixture.ids[2] as string);
  });

  test("after a request of unknown fate is not asked again if it would show the message twice", async () => {
    const fixture = createFixture({ isIdempotent: false });
    fixture.failures.push(new DeliveryError("reset", { isUncertain: true }));
    put(fixture, "a");
    await fixture.advance(10 * minuteMs);
    expect(fixture.ids).toHaveLength(1);
    expect(fixture.dropped).toEqual(["a: it may or may not have arrived: reset"]);
  });
});

describe("limits", () => {
  test("an alert that could not be sent in time is dropped, and the drop is reported", async () => {
    const fixture = createFixture();
    fixture.failures.push(...Array.from({ length: 99 }, () => new DeliveryError("down")));
    put(fixture, "a", "npm test", fixture.clock().at + 10 * minuteMs);
    await fixture.advance(20 * minuteMs);
    expect(fixture.dropped).toEqual(["a: it could not be sent in time"]);
    const attempts = fixture.ids.length;
    await fixture.advance(60 * minuteMs);
    expect(fixture.ids).toHaveLength(attempts);
  });

  test("at most 200 messages wait; the oldest give way, and each drop is reported", async () => {
    const fixture = createFixture();
    fixture.failures.push(new DeliveryError("down"));
    for (let n = 0; n < 210; n++) put(fixture, `k${n}`);
    await fixture.advance(2_000);
    expect(fixture.dropped).toHaveLength(10);
    expect(fixture.calls.filter((call) => call.startsWith("sent"))).toHaveLength(200);
  });
});

describe("after a kill", () => {
  /** The state on disk at the moment when the request was being written. */
  async function killWhileSending() {
    const fixture = createFixture();
    fixture.failures.push("hang");
    put(fixture, "a");
    await fixture.advance(0);
    expect(fixture.calls).toEqual(["send a npm test"]);
    return { saved: fixture.readDisk(), id: fixture.ids[0] };
  }

  test("what was sent is not sent again, and can still be updated", async () => {
    const before = createFixture();
    put(before, "a", "one");
    await before.advance(0);
    const after = createFixture({ saved: before.readDisk() });
    expect(after.outbox.keys()).toEqual(["a"]);
    put(after, "a", "one");
    await after.advance(minuteMs);
    expect(after.calls).toEqual([]);
    after.outbox.finish("a", createMessage("a", "Allowed"), "allowed");
    await after.advance(0);
    expect(after.calls).toEqual(["update handle-a Allowed"]);
  });

  test("what was being sent is sent again with the same id if the service shows it once", async () => {
    const { saved, id } = await killWhileSending();
    const after = createFixture({ saved, isIdempotent: true });
    put(after, "a");
    await after.advance(0);
    expect(after.ids).toEqual([id as string]);
  });

  test("what was being sent is not sent again otherwise, and the log says so", async () => {
    const { saved } = await killWhileSending();
    const after = createFixture({ saved, isIdempotent: false });
    put(after, "a");
    await after.advance(minuteMs);
    expect(after.calls).toEqual([]);
    expect(after.problems).toEqual([
      "beckon was killed while it sent a message, which may or may not have arrived",
    ]);
  });

  test("a damaged file of state is read as far as it makes sense", () => {
    const saved = [null, 5, { key: 1 }, { key: "a", id: "i", handle: "h", content: "c", title: "t" }, "x"];
    expect(createFixture({ saved }).outbox.keys()).toEqual(["a"]);
    expect(createFixture({ saved: { not: "a list" } }).outbox.keys()).toEqual([]);
  });
});
