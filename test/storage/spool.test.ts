import { afterAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { removeLastSpoolLine } from "../../src/storage/spool.ts";
import { settle } from "../virtual-time.ts";
import { removeTemporaryFolders } from "./folder.ts";
import { createSpoolFixture, event, lines, quietMs } from "./spool-fixture.ts";

afterAll(removeTemporaryFolders);

describe("events", () => {
  test("are accepted in order with their exact text, and the file is removed soon after", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines("ü", 2, 3));
    const spool = fixture.open();
    expect(await spool.poll()).toBe(3);
    expect(fixture.accepted).toEqual([event("ü"), event(2), event(3)]);
    expect(existsSync(fixture.path)).toBe(false);
    await fixture.advance(quietMs);
    expect(await spool.poll()).toBe(0);
    expect(existsSync(fixture.rotated)).toBe(false);
    expect(spool.position()).toBeNull();
    expect(fixture.errors).toEqual([]);
  });

  test("without a spool there are none, and that is not an error", async () => {
    const fixture = createSpoolFixture();
    const spool = fixture.open();
    expect(await spool.poll()).toBe(0);
    expect([fixture.errors, spool.position()]).toEqual([[], null]);
  });

  test("are accepted at the next poll of the timer, until the spool is stopped", async () => {
    const fixture = createSpoolFixture();
    const spool = fixture.open({ pollMs: 500 });
    for (const id of [1, 2]) {
      await fixture.advance(400);
      appendFileSync(fixture.path, lines(id));
      await fixture.advance(100);
      expect(fixture.ids().at(-1)).toBe(id);
    }
    await spool.stop();
    appendFileSync(fixture.path, lines(3));
    await fixture.advance(5_000);
    expect(fixture.ids()).toEqual([1, 2]);
  });

  test("are left alone while their line is incomplete", async () => {
    const fixture = createSpoolFixture();
    const spool = fixture.open();
    const bytes = Buffer.from(lines(1, "zwei ☂"));
    for (let at = 0; at < bytes.length; at++) {
      appendFileSync(fixture.path, bytes.subarray(at, at + 1));
      await spool.poll();
      expect(fixture.accepted).toHaveLength(at < bytes.indexOf(10) ? 0 : at < bytes.length - 1 ? 1 : 2);
      if (existsSync(fixture.rotated)) renameSync(fixture.rotated, fixture.path);
    }
    expect(fixture.ids()).toEqual([1, "zwei ☂"]);
    expect(fixture.errors).toEqual([]);
  });

  test("around a damaged line are accepted, and the log says where it is", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, `${lines(1)}{"provider":"claude","pay\n\n  \r\n${lines(2)}`);
    expect(await fixture.open().poll()).toBe(2);
    expect(fixture.ids()).toEqual([1, 2]);
    const at = lines(1).length;
    expect(fixture.errors).toEqual([`spool.jsonl: the line at byte ${at} is damaged (26 bytes), skipped`]);
  });

  test("that continue the incomplete line of a killed writer are recovered", async () => {
    const fixture = createSpoolFixture();
    const incomplete = event("killed ☂").slice(0, -7);
    writeFileSync(fixture.path, `${lines(1)}${incomplete}${lines(2)}${lines(3)}`);
    await fixture.open().poll();
    expect(fixture.ids()).toEqual([1, 2, 3]);
    const at = lines(1).length;
    const bytes = Buffer.byteLength(incomplete + lines(2));
    expect(fixture.errors).toEqual([
      `spool.jsonl: the line at byte ${at} is damaged (${bytes} bytes), complete events taken from it: 1`,
    ]);
  });

  test("without a newline between them are both accepted, each with its own position", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, event("ä") + lines("b"));
    const ends: number[] = [];
    const accept: typeof fixture.accept = (text, next) => {
      ends.push(next[1]);
      return fixture.accept(text, next);
    };
    await fixture.open({ accept }).poll();
    expect(fixture.ids()).toEqual(["ä", "b"]);
    expect(ends).toEqual([Buffer.byteLength(event("ä")), Buffer.byteLength(event("ä") + lines("b"))]);
  });

  test("that cannot be stored now are offered again, before everything after them", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1, 2, 3));
    let isFull = true;
    const spool = fixture.open({
      accept: async (text, next) => {
        return isFull && text === event(2) ? "retry" : fixture.accept(text, next);
      },
    });
    expect(await spool.poll()).toBe(1);
    expect(spool.position()?.[1]).toBe(lines(1).length);
    await fixture.advance(quietMs);
    expect(await spool.poll()).toBe(0);
    expect(existsSync(fixture.path)).toBe(true);
    isFull = false;
    appendFileSync(fixture.path, lines(4));
    expect(await spool.poll()).toBe(3);
    expect(fixture.ids()).toEqual([1, 2, 3, 4]);
  });

  test("are offered again after an unexpected error, which is reported", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1));
    let isBroken = true;
    const spool = fixture.open({
      accept: async (text, next) => {
        if (isBroken) throw new Error("oops");
        return fixture.accept(text, next);
      },
    });
    await spool.poll();
    expect(fixture.errors).toEqual([expect.stringContaining("oops")]);
    isBroken = false;
    expect(await spool.poll()).toBe(1);
  });

  test("that are rejected are skipped", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1, 2));
    const offered: string[] = [];
    const accept = async (text: string) => (offered.push(text) === 1 ? "rejected" : "accepted");
    expect(await fixture.open({ accept }).poll()).toBe(1);
    expect(offered).toEqual([event(1), event(2)]);
  });

  test("are read from the start if the saved position is not valid", async () => {
    for (const position of [{}, ["x"], [1, 2], ["x", "y"], ["a b@c", 5], "text"]) {
      const fixture = createSpoolFixture();
      writeFileSync(fixture.path, lines(1));
      await fixture.open({ position: position as never }).poll();
      expect(fixture.ids()).toEqual([1]);
    }
  });

  test("around a line that is too long are accepted, without reading it into memory", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1));
    const piece = Buffer.alloc(4 * 1024 * 1024, 120);
    for (let n = 0; n < 16; n++) appendFileSync(fixture.path, piece);
    appendFileSync(fixture.path, `\n${lines(2)}`);
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    await fixture.open().poll();
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1024 * 1024);
    expect(fixture.ids()).toEqual([1, 2]);
    expect(fixture.errors).toEqual([expect.stringContaining("is too long (67108865 bytes), skipped")]);
  });

  test("after the one being stored are left for the next start when the spool is stopped", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1, 2, 3));
    const begun = Promise.withResolvers<void>();
    const result = Promise.withResolvers<"accepted">();
    const offered: string[] = [];
    const spool = fixture.open({
      accept: (text) => {
        offered.push(text);
        begun.resolve();
        return result.promise;
      },
    });
    const polling = spool.poll();
    await begun.promise;
    const stopped = spool.stop();
    result.resolve("accepted");
    await stopped;
    expect(await polling).toBe(1);
    expect(await spool.poll()).toBe(0);
    expect(offered).toEqual([event(1)]);
    expect(readFileSync(fixture.path, "utf8")).toBe(lines(1, 2, 3));
    expect(spool.position()?.[1]).toBe(lines(1).length);
  });
});

describe("the files", () => {
  test("are read on from the right place after a kill at any event", async () => {
    for (let eventsBeforeKill = 0; eventsBeforeKill <= 6; eventsBeforeKill++) {
      const fixture = createSpoolFixture();
      let left = eventsBeforeKill;
      const killed = fixture.open({
        // Never settles, as in a process that is gone.
        accept: (text, next) => (left-- > 0 ? fixture.accept(text, next) : new Promise(() => {})),
      });
      // Two files at once: the first was renamed, and a slow writer appends to it while the next is written.
      writeFileSync(fixture.path, lines(1, 2));
      const slowWriter = openSync(fixture.path, "a");
      void killed.poll();
      await fixture.advance(0);
      writeSync(slowWriter, lines("late"));
      closeSync(slowWriter);
      appendFileSync(fixture.path, lines(3, 4));
      void killed.poll();
      await fixture.advance(0);

      const next = fixture.open();
      await next.poll();
      await fixture.advance(quietMs);
      await next.poll();
      await next.poll();
      expect(fixture.ids().sort()).toEqual([1, 2, 3, 4, "late"].sort());
      expect(fixture.errors).toEqual([]);
    }
  });

  test("that an earlier beckon had renamed are read before new ones", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.rotated, lines(1, 2));
    writeFileSync(fixture.path, lines(3));
    const spool = fixture.open();
    expect(await spool.poll()).toBe(3);
    await fixture.advance(quietMs);
    await spool.poll();
    await spool.poll();
    await fixture.advance(quietMs);
    await spool.poll();
    expect([existsSync(fixture.path), existsSync(fixture.rotated)]).toEqual([false, false]);
    expect(fixture.ids()).toEqual([1, 2, 3]);
  });

  test("are read from the start if they are new, even with the inode number of an old one", async () => {
    for (let round = 0; round < 5; round++) {
      const fixture = createSpoolFixture();
      writeFileSync(fixture.path, lines(1, 2));
      await fixture.open().poll();
      rmSync(fixture.rotated);
      writeFileSync(fixture.path, lines("a", "b", "c"));
      await fixture.open().poll();
      expect(fixture.ids()).toEqual([1, 2, "a", "b", "c"]);
    }
  });

  test("are read from the start if another program emptied them", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, `${lines(1, 2)}{"incomplete":`);
    const spool = fixture.open();
    await spool.poll();
    truncateSync(fixture.path);
    appendFileSync(fixture.path, lines("a"));
    await spool.poll();
    expect(fixture.ids()).toEqual([1, 2, "a"]);
  });

  test("that were cut shorter than what was read of them lose no later event", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, `${lines(1, 2, 3)}{"incomplete":`);
    const spool = fixture.open();
    await spool.poll();
    truncateSync(fixture.path, lines(1).length);
    appendFileSync(fixture.path, lines("a"));
    await spool.poll();
    expect(fixture.ids().at(-1)).toBe("a");
  });

  test.each([
    ["a complete event", event(2), [1, 2], 0],
    ["an incomplete event", '{"provider":"cl', [1], 1],
    ["a line that is too long", "x".repeat(20_000), [1], 1],
  ])(
    "that end with %s without a newline are removed once they have no writer",
    async (_, rest, ids, errors) => {
      const fixture = createSpoolFixture();
      writeFileSync(fixture.path, lines(1) + rest);
      const spool = fixture.open();
      await spool.poll();
      await spool.poll();
      expect(existsSync(fixture.path)).toBe(true);
      for (let n = 0; n < 2; n++) {
        await fixture.advance(quietMs);
        await spool.poll();
      }
      expect(fixture.ids()).toEqual(ids);
      expect(fixture.errors).toHaveLength(errors);
      expect([existsSync(fixture.path), existsSync(fixture.rotated)]).toEqual([false, false]);
    },
  );

  test("that were renamed stay as long as a writer appends to them", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, lines(1));
    const slowWriter = openSync(fixture.path, "a");
    const spool = fixture.open();
    await spool.poll();
    for (let n = 2; n <= 5; n++) {
      await fixture.advance(quietMs - 1);
      writeSync(slowWriter, lines(n));
      await spool.poll();
      expect(existsSync(fixture.rotated)).toBe(true);
    }
    closeSync(slowWriter);
    await fixture.advance(quietMs);
    await spool.poll();
    expect(existsSync(fixture.rotated)).toBe(false);
    expect(fixture.ids()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("removing doctor's test event", () => {
  const other = '{"from":"an agent"}\n';
  const own = '{"from":"doctor-1"}\n';

  test.each([
    ["removes the line if it is the only new one", other + own, other],
    ["changes nothing if another line follows", other + own + other, other + own + other],
    ["changes nothing if another line comes before it", other + other + own, other + other + own],
    ["changes nothing if the line is incomplete", other + own.trimEnd(), other + own.trimEnd()],
    ["leaves the line of an agent", other + other, other + other],
    ["leaves a spool that was emptied in the meantime", "", ""],
  ])("%s", (_, before, after) => {
    const { path } = createSpoolFixture();
    writeFileSync(path, before);
    removeLastSpoolLine(path, other.length, "doctor-1");
    expect(readFileSync(path, "utf8")).toBe(after);
  });

  test("removes a spool that has only this line", () => {
    const { path } = createSpoolFixture();
    writeFileSync(path, own);
    removeLastSpoolLine(path, 0, "doctor-1");
    expect(existsSync(path)).toBe(false);
  });

  test("creates no spool if there is none", () => {
    const { path } = createSpoolFixture();
    removeLastSpoolLine(path, 0, "doctor-1");
    expect(existsSync(path)).toBe(false);
  });
});

describe("a session that is taken first", () => {
  const ofSession = (session: string, id: number) =>
    `${JSON.stringify({ provider: "claude", session, payload: { id } })}\n`;
  const findSession = (text: string) => {
    const { session } = JSON.parse(text) as { session: string };
    return { key: session, mark: session };
  };
  const first = { key: "b", mark: "b" };

  test("comes before all others, in its own order and from both files, and no event counts twice", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.rotated, [ofSession("a", 1), ofSession("b", 2), ofSession("a", 3)].join(""));
    writeFileSync(fixture.path, [ofSession("a", 4), ofSession("b", 5), ofSession("b", 6)].join(""));
    const spool = fixture.open({ findSession });
    const polled = spool.poll();
    await spool.takeFirst(first);
    expect(fixture.ids().slice(0, 4)).toEqual([1, 2, 5, 6]);
    await polled;
    expect(fixture.ids()).toEqual([1, 2, 5, 6, 3, 4]);
    expect(fixture.errors).toEqual([]);
  });

  test("is not read again after a kill, wherever that happens", async () => {
    const all = [1, 2, 3, 4, 5, 6, 7, 8];
    for (const killedAfter of all) {
      const fixture = createSpoolFixture();
      writeFileSync(fixture.path, all.map((id) => ofSession(id % 3 === 0 ? "b" : "a", id)).join(""));
      const killed = Promise.withResolvers<"retry">();
      const spool = fixture.open({
        findSession,
        accept: async (text, next) =>
          fixture.accepted.length < killedAfter ? fixture.accept(text, next) : killed.promise,
      });
      const polled = spool.poll();
      void spool.takeFirst(first);
      await settle();
      killed.resolve("retry");
      await polled;
      await fixture.open({ findSession }).poll();
      expect(fixture.ids().filter((id) => Number(id) % 3 === 0)).toEqual([3, 6]);
      expect(fixture.ids().filter((id) => Number(id) % 3 !== 0)).toEqual([1, 2, 4, 5, 7, 8]);
    }
  });

  test("does not wait if nothing is being read", async () => {
    const fixture = createSpoolFixture();
    await fixture.open({ findSession }).takeFirst(first);
    expect(fixture.ids()).toEqual([]);
  });
});

describe("a million damaged lines", () => {
  const junk = "x\n".repeat(20_000);

  /** How often the event loop turned before the work was done. */
  async function countTurns(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    let isDone = false;
    const done = work.then(() => {
      isDone = true;
    });
    for (; !isDone; turns++) await new Promise((resolve) => setImmediate(resolve));
    await done;
    return turns;
  }
  /** A clock on which each look takes 0.1 ms: about two per line. */
  const createSlowClock = (lookMs = 0.1) => {
    let t = 0;
    return () => {
      t += lookMs;
      return t;
    };
  };

  test("are read in slices, between which the app answers", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, `${junk}${lines("last")}`);
    const spool = fixture.open({ now: createSlowClock() });
    expect(await countTurns(spool.poll())).toBeGreaterThan(100);
    expect(fixture.ids()).toEqual(["last"]);
    await spool.stop();
  });

  test("are read in slices for one session, too", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, `${lines("first")}${junk}${lines("last")}`);
    const session = { key: "claude:last", mark: "last" };
    const spool = fixture.open({
      now: createSlowClock(),
      findSession: (text) => (text.includes("last") ? session : null),
    });
    void spool.poll();
    expect(await countTurns(spool.takeFirst(session))).toBeGreaterThan(100);
    await spool.stop();
  });

  test("and one line without an end are read in slices, too", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, "");
    truncateSync(fixture.path, 16 * 1024 * 1024);
    const spool = fixture.open({ now: createSlowClock(10) });
    expect(await countTurns(spool.poll())).toBeGreaterThan(30);
    await spool.stop();
  });

  test("are reported in a few lines", async () => {
    const fixture = createSpoolFixture();
    writeFileSync(fixture.path, junk);
    const spool = fixture.open();
    await spool.poll();
    expect(fixture.errors).toHaveLength(11);
    expect(fixture.errors.at(-1)).toBe("spool.jsonl: 19990 more lines are damaged or too long");
    await spool.stop();
  });
});
