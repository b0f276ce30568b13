/** What strangers, forgers and careless fingers try through each service that takes answers, in the real app. */
import { describe, expect } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "../../src/channels/index.ts";
import { isRecord } from "../../src/core/json.ts";
import { timing } from "../../src/core/timing.ts";
import { createRequest, type Hook, parseDecision } from "../answers/fixture.ts";
import { runSideBySide } from "../side-by-side.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { createChannelFixture } from "./app-fixture.ts";
import type { FakeService } from "./servers/fake-service.ts";
import { serverStarters } from "./servers/index.ts";

const { fixture, test } = runSideBySide(createChannelFixture);

const answering = services.filter(
  ({ type, maxButtons }) => maxButtons > 0 && serverStarters[type] !== undefined,
);

const shownMs = 10_000;
const testMs = 40_000;

async function start(type: string, fields: Record<string, unknown> = {}): Promise<FakeService> {
  const server = await (serverStarters[type] as () => Promise<FakeService>)();
  fixture.configure({ phone: { type, server, fields } });
  await fixture.start();
  return server;
}

const run = (session: string, command: string, more: Record<string, unknown> = {}): Hook =>
  fixture.startHook(createRequest(session, { tool_input: { command }, ...more }));

const showsText = (server: FakeService, text: string) =>
  waitUntil(() => server.messages().some((message) => message.text.includes(text)), shownMs, text);

/** How often the log names a refused answer. */
const countRefusals = () => fixture.readChannelLog().filter((line) => line.includes("was refused")).length;
const waitForRefusal = () => waitUntil(() => countRefusals() > 0, shownMs, "a line about a refused answer");

/** The references that buttons with this label had in everything that was sent, oldest first. */
function findReferences(value: unknown, label: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => findReferences(item, label));
  if (!isRecord(value)) return [];
  const { label: own, text } = value;
  const isIt = own === label || text === label || (isRecord(text) && text.text === label);
  const carried = [value.callback_data, value.custom_id, value.value, value.body].find(
    (field) => typeof field === "string" && /^[\w-]{22}$/.test(field),
  );
  return isIt && typeof carried === "string"
    ? [carried]
    : Object.values(value).flatMap((item) => findReferences(item, label));
}

describe.each(answering.map((service) => [service.type, service] as const))("%s", (type, service) => {
  test(
    "a stranger's tap is refused, and the request stays open for you",
    async () => {
      if (!service.hasAccounts) return;
      const server = await start(type);
      const hook = run("s1", "npm test");
      await showsText(server, "npm test");
      await server.tap("Allow", server.accounts.foreign);
      await waitForRefusal();
      expect(hook.isRunning()).toBe(true);
      await server.tap("Allow");
      expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    },
    testMs,
  );

  test(
    "a made-up reference is refused",
    async () => {
      const server = await start(type);
      const hook = run("s1", "npm test");
      await showsText(server, "npm test");
      await server.forge("A".repeat(22));
      await waitForRefusal();
      expect(hook.isRunning()).toBe(true);
    },
    testMs,
  );

  test(
    "a tap that is sent again answers nothing, also not the next request",
    async () => {
      const server = await start(type);
      const first = run("s1", "npm test");
      await showsText(server, "npm test");
      await server.tap("Deny");
      expect(parseDecision(await first.printed)).toMatchObject({ behavior: "deny" });
      const second = run("s1", "npm run build");
      await showsText(server, "npm run build");
      await server.replay();
      await waitForRefusal();
      expect(second.isRunning()).toBe(true);
    },
    testMs,
  );

  test(
    "a tap after the request was answered at the desk is refused",
    async () => {
      const server = await start(type);
      const hook = run("s1", "npm test");
      await showsText(server, "npm test");
      const [reference = ""] = findReferences(server.bodies(), "Allow");
      const { answerId } = await fixture.waitForAsk("s1");
      await fixture.answer("s1", { do: "deny", ask: answerId, by: "command line" });
      await hook.exited;
      await server.forge(reference);
      await waitForRefusal();
      const log = readFileSync(fixture.paths.answerLog, "utf8");
      expect(log.match(/"what":"answered"/g)).toHaveLength(1);
    },
    testMs,
  );

  test(
    "a reference answers its own request only, wherever it is used",
    async () => {
      const server = await start(type);
      const first = run("s1", "npm test");
      await showsText(server, "npm test");
      const [reference = ""] = findReferences(server.bodies(), "Allow");
      // The first message gets a longer name then, but its old buttons still work.
      const second = run("s2", "npm run build");
      await showsText(server, "npm run build");
      await server.forge(reference);
      expect(parseDecision(await first.printed)).toEqual({ behavior: "allow" });
      expect(second.isRunning()).toBe(true);
    },
    testMs,
  );

  test(
    "with answers off there are no buttons",
    async () => {
      const server = await start(type, { answers: "off" });
      run("s1", "npm test");
      await showsText(server, "npm test");
      expect(server.messages().flatMap(({ buttons }) => buttons)).toEqual([]);
      expect(findReferences(server.bodies(), "Allow")).toEqual([]);
    },
    testMs,
  );

  test(
    "what is marked as dangerous can only be denied with answers safe",
    async () => {
      const server = await start(type);
      const hook = run("s1", "sudo true");
      await showsText(server, "sudo true");
      expect(server.messages().at(-1)?.buttons).not.toContain("Allow");
      expect(server.messages().at(-1)?.text).toContain("at your desk");
      await server.tap("Deny");
      expect(parseDecision(await hook.printed)).toMatchObject({ behavior: "deny" });
    },
    testMs,
  );

  test(
    "with answers all it takes two taps",
    async () => {
      const server = await start(type, { answers: "all" });
      const hook = run("s1", "sudo true");
      await showsText(server, "sudo true");
      await server.tap("Allow…");
      await waitUntil(() => server.messages().at(-1)?.buttons.includes("Yes, allow it"), shownMs);
      expect(server.messages().at(-1)?.text).toContain("Really allow this?");
      expect(hook.isRunning()).toBe(true);
      await letTimePass(timing.minReadMs, "as a user who has read it");
      await server.tap("Yes, allow it");
      expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    },
    testMs,
  );

  test(
    "names of tools and projects cannot format, mention or link anything",
    async () => {
      const server = await start(type);
      const project = "@here **b** <!a>";
      const request = createRequest("s1", { tool_name: "mcp__srv__<@1>_*a*", tool_input: { q: "deploy" } });
      fixture.startHook(request, { CLAUDE_PROJECT_DIR: `/home/dev/${project}` });
      await showsText(server, "deploy");
      const [message] = server.messages();
      expect(message?.text).toContain(project);
      expect(message?.text).toContain("<@1>_*a*");
      expect(message?.mentions).toEqual([]);
    },
    testMs,
  );

  const token = `ghp_${"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}`;
  const secretCommands: readonly (readonly [where: string, command: string])[] = [
    ["in the middle", `deploy --token ${token} --prod`],
    ["where a long line is wrapped", `deploy ${"a ".repeat(89)}--t=${token} ${"b ".repeat(20)}`],
    ["where a very long request is cut", `deploy ${"a".repeat(7_955)} ${token} ${"b ".repeat(200)}`],
  ];
  for (const [where, command] of secretCommands)
    test(
      `a secret ${where} does not leave, and the request cannot be allowed from there`,
      async () => {
        const server = await start(type);
        run("s1", command);
        await showsText(server, "deploy");
        const everything = JSON.stringify(server.bodies());
        for (let length = 8; length < token.length; length++)
          expect(everything).not.toContain(token.slice(0, length));
        expect(server.messages().at(-1)?.buttons).not.toContain("Allow");
      },
      testMs,
    );

  test(
    "no file of beckon's contains a secret of the channel, whatever goes wrong",
    async () => {
      const server = await start(type);
      run("s1", "npm test");
      await showsText(server, "npm test");
      for (const how of ["refuse", "error", "garbage", "reset"] as const) {
        server.misbehave(how, 1);
        const sent = server.bodies().length;
        run(`s-${how}`, `npm run ${how}`);
        await waitUntil(() => server.bodies().length > sent || countProblems() > 0, shownMs);
      }
      await fixture.stopApps();
      const secrets = Object.values(server.secrets);
      expect(secrets.length).toBeGreaterThan(0);
      for (const path of listFiles(fixture.home)) {
        if (path === fixture.paths.channelSecrets) continue;
        const text = readFileSync(path, "latin1");
        for (const secret of secrets) if (text.includes(secret)) throw new Error(`${path} contains a secret`);
      }
    },
    testMs,
  );
});

const countProblems = () => fixture.readChannelLog().length;

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
