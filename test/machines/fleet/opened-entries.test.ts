/** Entries of the server, as they are opened here: by several threads, while the list of members may change, and however many there are. */
import { expect, test } from "bun:test";
import { createOwnKeys } from "../../../src/machines/fleet/keys.ts";
import { createEntryOpener } from "../../../src/machines/fleet/opened-entries.ts";
import { createOpener, createSealer } from "../../../src/machines/fleet/seal.ts";
import { createFleetRecords, simulateMachine } from "./simulated.ts";

function createMembers() {
  const [own, first, second] = createFleetRecords("redis://127.0.0.1:1/0", 3);
  if (!own || !first || !second) throw new Error("no records");
  let record = own;
  return {
    own,
    first,
    second,
    opener: createEntryOpener(() => record),
    remove(machine: string): void {
      const members = record.members.members.filter(({ id }) => id !== machine);
      record = { ...record, members: { ...record.members, members } };
    },
  };
}

const sealMany = (record: Parameters<typeof simulateMachine>[0], count: number): string[] => {
  const machine = simulateMachine(record);
  return Array.from({ length: count }, (_, n) => machine.change(n % 10, `step ${n}`));
};
const number = (texts: readonly string[]) => texts.map((text, n) => [`${n + 1}-0`, text] as const);
const readNothing = async () => {};

test("who is removed while a signature is checked is not heard", async () => {
  const { first, second, opener, remove } = createMembers();
  const entries = number([...sealMany(first, 20), ...sealMany(second, 20)]);
  const opening = opener.openAll("log", entries, readNothing);
  remove(first.machine);
  const machines = (await opening).map(([{ machine }]) => machine);
  expect(new Set(machines)).toEqual(new Set([second.machine]));
  expect(machines).toHaveLength(20);
  expect(opener.dropped().get("not a member")).toBe(20);
});

test("however many are opened at once, they stay in order, and what is damaged takes nothing with it", async () => {
  const { first, second, opener } = createMembers();
  const [a, b] = [sealMany(first, 150), sealMany(second, 150)];
  const texts = a.flatMap((text, n) => [text, b[n] ?? "", ...(n % 7 === 0 ? [text.slice(0, -8)] : [])]);
  const opened = await opener.openAll("log", number(texts), readNothing);
  const good = texts.filter((text) => a.includes(text) || b.includes(text));
  expect(opened.map(([, id]) => texts[Number(id.split("-")[0]) - 1])).toEqual(good);
  for (const record of [first, second]) {
    const numbers = opened
      .filter(([entry]) => entry.machine === record.machine)
      .map(([entry]) => entry.number);
    expect(numbers).toEqual(numbers.toSorted((x, y) => x - y));
  }
  expect(opener.dropped().get("damaged")).toBe(22);
});

test("only entries of unknown machines are opened again once the members are read", async () => {
  const { first, second, opener, remove } = createMembers();
  remove(second.machine);
  let reads = 0;
  const entries = number([...sealMany(first, 5), ...sealMany(second, 5), "damaged"]);
  const opened = await opener.openAll("log", entries, async () => void reads++);
  expect({ reads, opened: opened.length }).toEqual({ reads: 1, opened: 5 });
  expect(Object.fromEntries(opener.dropped())).toEqual({ "not a member": 5, damaged: 1 });
});

test("a hash that somebody has filled with copies holds nothing up, and is not read to its end", async () => {
  const { first, opener } = createMembers();
  const machine = simulateMachine(first);
  const copies = Array<string>(20_000).fill(machine.change(1, "step"));
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const latest = await opener.openLatest(first.machine, [machine.hello(), ...copies]);
  clearImmediate(timer);
  expect(latest?.hello.kind).toBe("hello");
  expect(turns).toBeGreaterThan(30);
  expect(opener.dropped().get("not valid")).toBe(16_001);
});

test("an entry that is longer than any message is not opened", async () => {
  const { first, opener } = createMembers();
  const sealer = createSealer(first.id, first.machine, first.keys);
  const key = Buffer.from(first.epochKeys[1] ?? "", "base64url");
  const long = sealer.seal("log", { number: 1, text: "x".repeat(3_500_000) }, 1, key).toString("base64");
  expect(await opener.openAll("log", number([long]), readNothing)).toEqual([]);
  expect(opener.dropped().get("damaged")).toBe(1);
});

test("a member's key that cannot be used spoils only its own entries", async () => {
  const { first, second, own } = createMembers();
  const key = Buffer.from(own.epochKeys[1] ?? "", "base64url");
  const opener = createOpener({
    fleet: own.id,
    keys: () => new Map([[1, key]]),
    findMember: (machine) => (machine === first.machine ? "AAAA" : second.keys.signing),
  });
  const texts = [...sealMany(first, 3), ...sealMany(second, 3)];
  const opened = await opener.openMany(
    "log",
    texts.map((text) => Buffer.from(text, "base64")),
  );
  expect(opened.map((entry) => (typeof entry === "string" ? entry : entry.machine))).toEqual([
    ...Array<string>(3).fill("wrong signature"),
    ...Array<string>(3).fill(second.machine),
  ]);
});

test("a signature of one entry does not count for another one, whoever checks it", async () => {
  const { first, own } = createMembers();
  const sealer = (keys = first.keys) => createSealer(own.id, first.machine, keys);
  const key = Buffer.from(own.epochKeys[1] ?? "", "base64url");
  const opener = createOpener({
    fleet: own.id,
    keys: () => new Map([[1, key]]),
    findMember: () => first.keys.signing,
  });
  const forged = Array.from({ length: 50 }, (_, number) =>
    sealer(number % 2 === 0 ? createOwnKeys() : first.keys).seal(
      "log",
      { number, text: `${number}` },
      1,
      key,
    ),
  );
  const opened = await opener.openMany("log", forged);
  expect(opened.map((entry) => typeof entry === "string")).toEqual(forged.map((_, n) => n % 2 === 0));
  expect(opened).toEqual(forged.map((sealed) => opener.open("log", sealed)));
});
