/** How machines come into a fleet and leave it, with a real redis-server. */
import { expect } from "bun:test";
import type { FleetRecord } from "../../../src/machines/fleet/fleet-file.ts";
import { formatInvitation, readInvitation } from "../../../src/machines/fleet/invitation.ts";
import {
  askToJoin,
  createFleet,
  inviteMachine,
  leaveFleet,
  listWaiting,
  readMembers,
  readWelcome,
  removeMember,
  rotateKey,
  welcome,
} from "../../../src/machines/fleet/membership.ts";
import type { Redis } from "../../../src/machines/fleet/redis.ts";
import { testWith } from "../../needs.ts";
import { noCertificates, startRedis } from "./redis-server.ts";

const testWithRedis = testWith("redis-server");
const settings = {
  ...noCertificates,
  password: null,
  kind: "personal",
  share: "full",
  answers: true,
} as const;
const now = () => Date.now();

async function withServer(run: (redis: Redis, url: string) => Promise<void>): Promise<void> {
  const server = await startRedis();
  const redis = server.open();
  try {
    await run(redis, server.url);
  } finally {
    redis.close();
    await server.destroy();
  }
}

const create = (redis: Redis, url: string) =>
  createFleet(redis, { name: "laptop", person: "kim" }, { ...settings, url });

async function join(redis: Redis, fleet: FleetRecord, name: string) {
  const invitation = await inviteMachine(redis, fleet, "home", now());
  const joining = await askToJoin(redis, invitation, { name, person: "kim" }, now());
  const [waiting] = await listWaiting(redis, fleet, now());
  if (!waiting) throw new Error("nobody waits");
  const after = await welcome(redis, fleet, waiting);
  const joined = await readWelcome(redis, invitation, joining, settings);
  if (!joined) throw new Error("no welcome came");
  return { joined, after, words: [joining.words, waiting.words], invitation, joining };
}

testWithRedis("a machine joins with an invitation; both see the same six words", () =>
  withServer(async (redis, url) => {
    const fleet = await create(redis, url);
    const { joined, after, words } = await join(redis, fleet, "devbox");
    expect(words[0]).toBe(words[1] as string);
    expect(words[0]?.split(" ")).toHaveLength(6);
    expect(joined.members).toEqual(after.members);
    expect(joined.members.members.map(({ name }) => name)).toEqual(["laptop", "devbox"]);
    expect(joined.epochKeys).toEqual(after.epochKeys);
  }),
);

testWithRedis("an invitation works once, and not after its time", () =>
  withServer(async (redis, url) => {
    const fleet = await create(redis, url);
    const { invitation, after } = await join(redis, fleet, "devbox");
    await askToJoin(redis, invitation, { name: "second", person: "kim" }, now());
    expect(await listWaiting(redis, after, now())).toEqual([]);
    const late = await inviteMachine(redis, after, "home", now() - 11 * 60_000);
    expect(askToJoin(redis, late, { name: "late", person: "kim" }, now())).rejects.toThrow("has ended");
    expect(readInvitation(formatInvitation(late))).toEqual(late);
  }),
);

testWithRedis("a machine with other keys shows other words", () =>
  withServer(async (redis, url) => {
    const fleet = await create(redis, url);
    const invitation = await inviteMachine(redis, fleet, "home", now());
    const honest = await askToJoin(redis, invitation, { name: "devbox", person: "kim" }, now());
    await redis.send("FLUSHALL", []);
    await redis.send("HSET", ["x", "y", "z"]);
    const stranger = await askToJoin(redis, invitation, { name: "devbox", person: "kim" }, now());
    expect(stranger.words).not.toBe(honest.words);
  }),
);

testWithRedis("a removed machine cannot open the new key, nor change the list", () =>
  withServer(async (redis, url) => {
    const { joined, after } = await join(redis, await create(redis, url), "devbox");
    const third = await join(redis, after, "desktop");
    const removed = await removeMember(redis, third.after, joined.machine);
    expect(removed.members.epoch).toBe(2);
    expect((await readMembers(redis, third.joined)).fleet.epochKeys[2]).toBe(removed.epochKeys[2] as string);
    expect(await readMembers(redis, joined)).toMatchObject({ isRemoved: true });
    expect(rotateKey(redis, joined)).rejects.toThrow("removed");
    // It has the server's password: it writes the next list itself.
    const forged = await rotateKey({ ...redis, send: skipRead(redis, joined) }, joined).catch(String);
    expect(forged).toBeDefined();
    const { problem } = await readMembers(redis, removed);
    expect(problem).toMatch(/not a member|unknown key|does not follow|damaged/);
  }),
);

/** The removed machine does not read the list that removes it, and overwrites what follows it. */
const skipRead =
  (redis: Redis, own: FleetRecord): Redis["send"] =>
  (command, args) => {
    if (command === "HGET") return Promise.resolve(null);
    if (command !== "HSETNX") return redis.send(command, args);
    const [place = "", , text = ""] = args;
    return redis.send("HSET", [place, String(own.members.version + 3), text]).then(() => 1);
  };

testWithRedis("two members who change the list at once both succeed, one after the other", () =>
  withServer(async (redis, url) => {
    const { joined, after } = await join(redis, await create(redis, url), "devbox");
    await Promise.all([rotateKey(redis, joined), rotateKey(redis, after)]);
    const [a, b] = [await readMembers(redis, joined), await readMembers(redis, after)];
    expect(a.fleet.members).toEqual(b.fleet.members);
    expect(a.fleet.members.epoch).toBe(3);
    await leaveFleet(redis, a.fleet);
    expect((await readMembers(redis, b.fleet)).fleet.members.members).toHaveLength(1);
  }),
);

testWithRedis("a server that forgets the list, or an older one, changes nothing", () =>
  withServer(async (redis, url) => {
    const { after } = await join(redis, await create(redis, url), "devbox");
    await redis.send("FLUSHALL", []);
    expect(await readMembers(redis, after)).toEqual({ fleet: after, problem: null, isRemoved: false });
  }),
);
