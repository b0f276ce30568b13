/** The next prompt of a session on another machine: its owner queues and sends it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createPromptEvent } from "../app-fixture.ts";
import { openInbox } from "../prompts/inbox.ts";
import { waitUntil } from "../wait-until.ts";
import { createTwoMachines } from "./two-machines.ts";

let two: ReturnType<typeof createTwoMachines>;
let inbox: ReturnType<typeof openInbox> | null = null;
beforeEach(() => {
  two = createTwoMachines();
});
afterEach(async () => {
  inbox?.close();
  inbox = null;
  await two.destroy();
});

const send = async (body: object) => {
  const response = await two.laptop.post(
    { by: "command line", ...body },
    "/api/sessions/devbox%2Fclaude%3As/send",
  );
  return { status: response.status, body: (await response.json()) as { error?: string; prompt?: object } };
};

test("a prompt goes through the link to the session there, which reports it", async () => {
  inbox = openInbox(two.devbox, "s");
  const { taken } = inbox;
  await two.start();
  await waitUntil(async () => (await two.laptop.fetchSessions()).length === 1, 10_000);
  await waitUntil(async () => (await send({ text: "do this", when: "idle" })).status === 200, 10_000);
  await waitUntil(() => taken.length === 1, 10_000);
  expect(taken[0]).toContain("do this");
  await two.devbox.postHook(createPromptEvent("s", { prompt: "do this" }));
  const listed = await (await two.devbox.request("/api/prompts")).json();
  expect(listed).toMatchObject({
    prompts: [{ state: "delivered", by: expect.stringContaining("command line on ") }],
  });
}, 60_000);

test("the command names the machine, and where a prompt waits", async () => {
  inbox = openInbox(two.devbox, "s", { status: "busy" });
  await two.start();
  await two.devbox.postHook(createPromptEvent("s"));
  await waitUntil(async () => (await two.laptop.fetchSessions()).length === 1, 10_000);
  const child = two.laptop.spawnBeckon(["send", "devbox/proj", "do this"]);
  expect(await child.stdout.text()).toMatch(
    /^Queued: it works.* To remove it, on devbox: .*send --remove [0-9a-f]{8}$/m,
  );
  expect(inbox.taken).toEqual([]);
}, 60_000);

test("what the owner refuses is said here, and so is a machine that cannot be reached", async () => {
  await two.start();
  await two.devbox.postHook(createPromptEvent("s"));
  await waitUntil(async () => (await two.laptop.fetchSessions()).length === 1, 10_000);
  expect(await send({ text: "do this" })).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining("takes no messages") },
  });
  await two.cut();
  expect(await send({ text: "do this" })).toMatchObject({
    status: 409,
    body: { error: "devbox cannot be reached" },
  });
}, 60_000);
