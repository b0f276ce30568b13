/** What two machines may say to each other, and how much: a version that is not understood, a flood, more than fits. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "../../src/core/session/session.ts";
import type { Carrier } from "../../src/machines/carrier.ts";
import { createLink } from "../../src/machines/link.ts";
import { createMirror } from "../../src/machines/mirror.ts";
import {
  formatMessage,
  maxLineBytes,
  type OwnerMessage,
  parseOwnerMessage,
  protocolVersion,
} from "../../src/machines/protocol.ts";
import { createPublisher, type PublisherOptions } from "../../src/machines/publisher.ts";
import { createClock } from "../../src/system/clock.ts";
import { schedule } from "../../src/system/schedule.ts";
import { blocked, minute } from "../core/view/menu/fixture.ts";
import { waitUntil } from "../wait-until.ts";

const soonMs = 15_000;
const clock = createClock();
const folder = mkdtempSync(join(tmpdir(), "beckon-limits-"));
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
});
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const hello: Extract<OwnerMessage, { kind: "hello" }> = {
  kind: "hello",
  protocol: protocolVersion,
  version: "1.0.0",
  machineId: "m1",
  now: { at: Date.now(), t: 0 },
  agents: ["claude"],
  hasChannels: false,
};

/** Links a machine that says exactly this, `later` two seconds after it, and then nothing. */
function linkTo(
  text: string,
  { later = "", ...parts }: { later?: string; refuse?: () => string | null } = {},
) {
  const file = join(folder, crypto.randomUUID());
  const heard = join(folder, crypto.randomUUID());
  writeFileSync(file, text);
  writeFileSync(`${file}-later`, later);
  const wait = later === "" ? "" : `sleep 2; cat ${file}-later; `;
  const messages: OwnerMessage[] = [];
  const problems: string[] = [];
  const failures: string[] = [];
  const link: Carrier = createLink({
    machine: "devbox",
    ownName: "laptop",
    argv: ["sh", "-c", `cat ${file}; ${wait}exec cat >${heard}`],
    ...parts,
    onOpened: (message) => void messages.push(message),
    onMessage: (message) => void messages.push(message),
    onLost() {},
    onProblem: (problem) => void problems.push(problem),
    onFailure: (reason) => void failures.push(reason),
    schedule,
  });
  cleanUp.push(() => link.stop());
  return { link, messages, problems, failures, heard };
}

/** `machine.sessions` can be changed; `said` has what it told its follower. */
function publish(sessions: readonly Session[], parts: Partial<PublisherOptions> = {}) {
  const problems: string[] = [];
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  const publisher = createPublisher({
    machineId: "m1",
    agents: () => ["claude"],
    hasChannels: () => false,
    clock,
    sessions: () => [...byId.values()],
    get: ({ sessionId }) => byId.get(sessionId) ?? null,
    pending: {
      details: () => null,
      maskedDetails: () => null,
      answer: () => Promise.withResolvers<never>().promise,
    },
    send: async () => "not here",
    focus: () => Promise.withResolvers<never>().promise,
    findLogins: async () => [],
    findPast: async () => [],
    schedule,
    onProblem: (problem) => void problems.push(problem),
    ...parts,
  });
  cleanUp.push(() => publisher.stop());

  /** The lines that the follower gets, as far as it has read. */
  function follow(id: string): string[] {
    const lines: string[] = [];
    const { body } = publisher.connect(id, new AbortController().signal);
    void (async () => {
      const decoder = new TextDecoder();
      let rest = "";
      for await (const chunk of body as ReadableStream<Uint8Array>) {
        const found = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = found.pop() ?? "";
        lines.push(...found);
      }
    })();
    return lines;
  }
  const isOpen = (id: string) => publisher.take(id, '{"kind":"of a newer beckon"}') === null;
  return { publisher, problems, follow, isOpen };
}

const greet = (more: object = {}) =>
  JSON.stringify({ kind: "hello", protocol: protocolVersion, version: "1.0.0", name: "laptop", ...more });
const kindsOf = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).kind);

/** Another session for each number, with a text as long as asked for. */
const createSessions = (count: number, length: number): Session[] =>
  Array.from({ length: count }, (_, n) => ({
    ...blocked("shop", minute),
    sessionId: `s${n}`,
    newest: 1,
    lastResponse: "x".repeat(length),
  }));

describe("versions", () => {
  test("a machine with an older protocol is not linked, and not tried again", async () => {
    const { link, failures } = linkTo(formatMessage({ ...hello, protocol: protocolVersion - 1 }));
    await waitUntil(() => link.problem() !== null, soonMs);
    expect([link.problem(), failures.length]).toEqual(["the beckon there is too old", 1]);
  });

  test("a machine with a newer protocol is linked, and what is not understood is ignored", async () => {
    const newer = JSON.stringify({ kind: "hologram", seq: 1 });
    const { link, messages, problems } = linkTo(
      `${formatMessage({ ...hello, protocol: protocolVersion + 1 })}${newer}\n${formatMessage({ kind: "alive" })}`,
    );
    await waitUntil(() => messages.length === 2, soonMs);
    expect([messages.map(({ kind }) => kind), link.problem(), problems]).toEqual([
      ["hello", "alive"],
      null,
      [],
    ]);
  });

  test("a follower with a newer protocol is served, and what is not understood is ignored", async () => {
    const { publisher, follow, problems } = publish([]);
    const lines = follow("a");
    expect(publisher.take("a", greet({ protocol: protocolVersion + 1, hologram: true }))).toBeNull();
    expect(publisher.take("a", JSON.stringify({ kind: "hologram" }))).toBeNull();
    expect(publisher.take("a", JSON.stringify({ kind: "everything" }))).toBeNull();
    await waitUntil(() => kindsOf(lines).includes("sessions"), soonMs);
    expect([kindsOf(lines).includes("refused"), problems]).toEqual([false, []]);
  });

  test("a follower with an older protocol is told so, in words that its user sees", async () => {
    const { publisher, follow } = publish([]);
    const lines = follow("a");
    expect(publisher.take("a", greet({ protocol: protocolVersion - 1 }))).toBeNull();
    await waitUntil(() => kindsOf(lines).includes("refused"), soonMs);
    const refused = lines.at(-1) ?? "";
    const { link, failures } = linkTo(`${formatMessage(hello)}${refused}\n`);
    await waitUntil(() => link.problem() !== null, soonMs);
    expect(failures).toEqual(["the beckon of laptop is too old for the one there"]);
  });

  test("a machine that is linked under another name, or is this one, is not linked again", async () => {
    const { link } = linkTo(formatMessage(hello), { refuse: () => "it is linked as box already" });
    await waitUntil(() => link.problem() !== null, soonMs);
    expect(link.problem()).toBe("it is linked as box already");
  });
});

describe("too much", () => {
  test("of a flood a thousand messages a second are taken, and the rest is asked for once", async () => {
    const flood = formatMessage({ kind: "gone", seq: 1, agent: "claude", sessionId: "s" }).repeat(20_000);
    const alive = formatMessage({ kind: "alive" });
    const { messages, problems, heard } = linkTo(formatMessage(hello) + flood, { later: alive + alive });
    await waitUntil(() => messages.at(-1)?.kind === "alive", soonMs);
    expect(problems).toEqual(["devbox: more than 1000 messages came in a second: the rest is dropped"]);
    // The flood is read within a second or two.
    expect(messages.length).toBeLessThan(3_003);
    // The machine makes the file once it listens.
    const readHeard = () => (existsSync(heard) ? readFileSync(heard, "utf8") : "");
    const countRequests = () => readHeard().split('"everything"').length - 1;
    await waitUntil(() => countRequests() > 0, soonMs);
    expect(countRequests()).toBe(1);
  });

  test("a line that is too long is ignored with a word, and the next one is read", async () => {
    const long = `{"kind":"sessions","seq":1,"sessions":["${"x".repeat(maxLineBytes)}"]}\n`;
    const { messages, problems } = linkTo(
      `${formatMessage(hello)}${long}${long}${formatMessage({ kind: "alive" })}`,
    );
    await waitUntil(() => messages.length === 2, soonMs);
    expect(problems).toEqual(["devbox: a line is too long, and is ignored"]);
  });

  test("a machine with 2,000 sessions is listed in lines that fit, and every session arrives", async () => {
    const sessions = createSessions(2_000, 1_500);
    const { publisher, follow } = publish(sessions);
    const lines = follow("a");
    publisher.take("a", greet());
    const isWhole = () =>
      lines.some((line) => line.startsWith('{"kind":"sessions"') && !line.includes('"isPart"'));
    await waitUntil(isWhole, soonMs);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(maxLineBytes / 2);
    const listed = new Map<string, Session>();
    const removed: string[] = [];
    const mirror = createMirror({
      machine: "devbox",
      clock,
      sessions: () => [...listed.values()],
      get: ({ sessionId }) => listed.get(sessionId) ?? null,
      replace: (session) => void listed.set(session.sessionId, session),
      remove: (keys) => void removed.push(...keys),
      onAskEnded() {},
      onPast() {},
      onListed() {},
      onPastListed() {},
      onProblem() {},
    });
    mirror.start(clock(), null);
    listed.set("old", { ...(sessions[0] as Session), machine: "devbox", sessionId: "old" });
    for (const line of lines) {
      const message = parseOwnerMessage(line);
      if (typeof message === "object" && message?.kind === "sessions") mirror.take(message);
    }
    expect(listed.size).toBe(2_001);
    expect(removed).toEqual(["devbox/claude:old"]);
  }, 60_000);

  test("a request that is too long for a line can be answered only on its own machine, and its log says so", async () => {
    const [session] = createSessions(1, 10) as [Session];
    const details = {
      kind: "permission",
      tool: "Bash",
      heading: "Run a command",
      lines: ["x".repeat(maxLineBytes)],
      isWhole: true,
      dangers: [],
      always: [],
      questions: [],
    } as const;
    const { problems, follow } = publish([session], {
      pending: {
        details: () => details,
        maskedDetails: () => ({ details, hasSecret: false }),
        answer: () => Promise.withResolvers<never>().promise,
      },
    });
    const lines = follow("a");
    await waitUntil(() => lines.length === 2, soonMs);
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ sessions: [{ answerable: [] }] });
    expect(problems).toEqual([
      expect.stringMatching(/^what session s0 asks is too long for linked machines \(\d+ characters\)/),
    ]);
  });

  test("a follower that floods its machine is cut short, with one line in the log a second", () => {
    const { publisher, problems, follow } = publish([]);
    follow("a");
    const results = Array.from({ length: 1_000 }, () => publisher.take("a", greet()));
    expect(results.filter((result) => result === "too many messages").length).toBeGreaterThan(700);
    expect(problems.length).toBeLessThan(3);
    expect(problems[0]).toBe("laptop sends more than 100 messages a second: the rest is dropped");
  });

  test("a follower that wants too much at once is told to try again", async () => {
    const { publisher, follow } = publish(createSessions(1, 10));
    const lines = follow("a");
    for (let n = 0; n < 9; n++)
      publisher.take("a", JSON.stringify({ kind: "focus", id: `${n}`, agent: "claude", sessionId: "s0" }));
    await waitUntil(() => kindsOf(lines).includes("reply"), soonMs);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ to: "8", outcome: { ok: false, status: 429 } });
  });

  test("a link that is opened again ends the older one, of which nobody knew that it is lost", async () => {
    const { publisher, follow, isOpen } = publish([]);
    follow("a");
    publisher.take("a", greet({ linkId: "laptop/devbox" }));
    follow("b");
    publisher.take("b", greet({ linkId: "laptop/devbox" }));
    follow("c");
    publisher.take("c", greet({ linkId: "tower/devbox" }));
    expect(["a", "b", "c"].map(isOpen)).toEqual([false, true, true]);
  });
});

test("what changed for one follower is sent to the others too, also if a new one just got it in a list", async () => {
  const session = createSessions(1, 10)[0] as Session;
  const changing = { ...session };
  const { follow, isOpen } = publish([changing]);
  const first = follow("a");
  await waitUntil(() => first.length === 2, soonMs);
  changing.detail = "something new";
  follow("b");
  await waitUntil(() => first.length === 3, soonMs);
  expect(first[2]).toContain("something new");
  expect(["a", "b"].map(isOpen)).toEqual([true, true]);
});
