/** A reply to the alert of a session that is done is its next prompt, where the user has turned that on. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createPromptEvent } from "../app-fixture.ts";
import { openInbox } from "../prompts/inbox.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type ChannelFixture, createChannelFixture } from "./app-fixture.ts";
import type { FakeService } from "./servers/fake-service.ts";
import { serverStarters } from "./servers/index.ts";

setDefaultTimeout(30_000);

let fixture: ChannelFixture;
let inbox: ReturnType<typeof openInbox>;
beforeEach(() => {
  fixture = createChannelFixture();
  inbox = openInbox(fixture, "s");
});
afterEach(async () => {
  inbox.close();
  await fixture.destroy();
});

async function startServer(type: string): Promise<FakeService> {
  const server = await serverStarters[type]?.();
  if (!server) throw new Error(`there is no server for ${type}`);
  return server;
}

async function finishTurn(server: FakeService): Promise<void> {
  await fixture.postHook(createPromptEvent("s", { prompt: "first" }));
  await fixture.postHook({
    session_id: "s",
    hook_event_name: "Stop",
    cwd: "/home/dev/proj",
    last_assistant_message: "all green",
  });
  await fixture.waitForText(server, "all green");
}

/** Sends finished turns, and takes prompts unless the fields say otherwise. */
async function open(type: string, fields: object = {}): Promise<FakeService> {
  const server = await startServer(type);
  const all = { answers: "off", send: true, asks: ["finished"], ...fields };
  fixture.configure({ phone: { type, server, fields: all } }, { alerts: { finished: true } });
  await fixture.start();
  await finishTurn(server);
  return server;
}

const listPrompts = async () =>
  ((await (await fixture.request("/api/prompts")).json()) as { prompts: { state: string; by: string }[] })
    .prompts;

describe.each(["ntfy", "telegram"])("%s", (type) => {
  test("a reply reaches the session once, as text, and a replay does not count", async () => {
    const server = await open(type);
    expect(server.messages()[0]?.text).toContain("Reply with its next prompt.");
    await server.reply("/clear is text");
    await waitUntil(() => inbox.taken.length === 1, 10_000);
    expect(JSON.parse(inbox.taken[0] ?? "")).toMatchObject({
      message: { content: expect.stringContaining("\n/clear is text\n") },
    });
    await fixture.postHook(createPromptEvent("s", { prompt: "/clear is text" }));
    await waitUntil(async () => (await listPrompts())[0]?.state === "delivered", 5_000);
    expect((await listPrompts())[0]?.by).toStartWith("phone");
    await server.replay();
    await waitUntil(() => fixture.readChannelLog().some((line) => line.includes("was refused")), 5_000);
    expect(inbox.taken).toHaveLength(1);
  });
});

test("without the setting, a reply is nothing", async () => {
  const server = await open("telegram", { send: false, answers: "safe" });
  expect(server.messages()[0]?.text).not.toContain("Reply with");
  await server.reply("do this");
  await waitUntil(
    () => server.bodies().some((body) => JSON.stringify(body).includes("takes no reply")),
    5_000,
  );
  expect(inbox.taken).toEqual([]);
});

test("an account that is not listed sends nothing, and learns nothing", async () => {
  const server = await open("telegram");
  await server.reply("do this", server.accounts.foreign);
  await waitUntil(() => fixture.readChannelLog().some((line) => line.includes("was ignored")), 5_000);
  await letTimePass(300, "a prompt would be there by now");
  expect([inbox.taken, await listPrompts()]).toEqual([[], []]);
});

test("a session that asks something gets nothing, and the reply counts after the answer", async () => {
  const server = await open("telegram");
  inbox.write({ status: "waiting", waitingFor: "permission" });
  await fixture.postHook({
    session_id: "s",
    hook_event_name: "PermissionRequest",
    tool_name: "Bash",
    tool_input: { command: "npm test" },
    cwd: "/home/dev/proj",
  });
  await server.reply("do this");
  const said = (text: string) => () => server.bodies().some((body) => JSON.stringify(body).includes(text));
  await waitUntil(said("it asks you something"), 5_000);
  expect(inbox.taken).toEqual([]);
  inbox.write({ status: "idle" });
  await fixture.postHook({ session_id: "s", hook_event_name: "Stop", cwd: "/home/dev/proj" });
  await waitUntil(async () => {
    await server.replay();
    return inbox.taken.length > 0;
  }, 10_000);
  expect(inbox.taken).toHaveLength(1);
});

test("a session that skips permissions offers no reply", async () => {
  const server = await startServer("telegram");
  fixture.configure(
    { phone: { type: "telegram", server, fields: { send: true, asks: ["finished"] } } },
    { alerts: { finished: true } },
  );
  await fixture.start();
  await fixture.postHook(createPromptEvent("s", { permission_mode: "bypassPermissions" }));
  await finishTurn(server);
  expect(server.messages()[0]?.text).not.toContain("Reply with");
});

describe("the settings", () => {
  test.each([
    ["telegram", { accounts: [] }, "phone.send needs accounts"],
    ["webhook", {}, "phone.send must be false"],
  ])("%s with %p is refused", async (type, fields, problem) => {
    const server = await startServer(type);
    fixture.configure({ phone: { type, server, fields: { answers: "off", send: true, ...fields } } });
    await fixture.start();
    await waitUntil(() => fixture.readChannelLog().some((line) => line.includes(problem)), 5_000);
  });

  test("ntfy without an access token takes no prompts: everybody could write them", async () => {
    const server = { ...(await startServer("ntfy")), secrets: {} };
    fixture.configure({ phone: { type: "ntfy", server, fields: { answers: "off", send: true } } });
    await fixture.start();
    await waitUntil(
      () => fixture.readChannelLog().some((line) => line.includes("send needs an access token")),
      5_000,
    );
  });
});
