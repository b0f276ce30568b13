/** The session feed in the real app: hooks go in, threads and posts come out. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { waitUntil } from "../../wait-until.ts";
import { type ChannelFixture, createChannelFixture } from "../app-fixture.ts";
import { type DiscordServer, startDiscordServer } from "../servers/discord.ts";

const folder = "/home/dev/proj";
const assistant = (...content: unknown[]) => ({ type: "assistant", message: { role: "assistant", content } });
const user = { type: "user", message: { role: "user", content: "do it" } };

let fixture: ChannelFixture;
let server: DiscordServer;
beforeEach(async () => {
  fixture = createChannelFixture();
  server = await startDiscordServer();
});
afterEach(() => fixture.destroy());

function configure(fields: Record<string, unknown> = {}): void {
  const settings = {
    projects: { [folder]: server.projectChannel },
    forward: { phases: true, responses: true },
    answers: "off",
    ...fields,
  };
  fixture.configure({ team: { type: "discord", server, fields: settings } });
}

const post = async (session_id: string, hook_event_name: string, more: Record<string, unknown> = {}) => {
  const response = await fixture.postHook({ session_id, hook_event_name, cwd: folder, ...more });
  expect(response.status).toBe(200);
};
const startSession = async (id: string, more: Record<string, unknown> = {}) => {
  await post(id, "SessionStart", { source: "startup", ...more });
  await waitUntil(() => server.threads().length > 0, 5_000);
};
const postsOf = (index = 0) => server.contentsOf(server.threads()[index]?.id ?? "");
const phaseOf = async (id: string) => (await fixture.fetchSession(id))?.activityPhase;

describe("SessionStart", () => {
  test("creates the thread at once", async () => {
    configure();
    await fixture.start();
    const started = performance.now();
    await startSession("s1");
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(server.threads()).toMatchObject([{ channel: server.projectChannel, name: "proj · s1" }]);
  });

  test("without a channel for the folder creates nothing, and the session is known nevertheless", async () => {
    configure({ projects: { "/elsewhere": server.projectChannel } });
    await fixture.start();
    await post("s1", "SessionStart", { source: "startup" });
    await post("s1", "UserPromptSubmit", { prompt: "hi" });
    await post("s1", "Stop", { last_assistant_message: "Done." });
    await waitUntil(async () => (await phaseOf("s1")) === "interactable", 5_000);
    expect(server.threads()).toEqual([]);
    expect(server.sentCount()).toBe(0);
  });

  test("after a restart of beckon the same thread is used", async () => {
    configure();
    await fixture.start();
    await startSession("s1");
    await fixture.stopApps();
    await fixture.start();
    await post("s1", "SessionStart", { source: "resume" });
    await post("s1", "UserPromptSubmit", { prompt: "hi" });
    await post("s1", "Stop", { last_assistant_message: "Done again." });
    await waitUntil(() => postsOf().includes("Done again."), 5_000);
    expect(server.threads()).toHaveLength(1);
  });

  test("while Discord fails or takes the thread and loses the answer, one thread is created", async () => {
    configure();
    await fixture.start();
    server.api.fail(/POST .*\/messages$/, { status: 500, body: { message: "x", code: 0 } }, "lost");
    server.api.fail(/POST .*\/threads$/, "lost");
    await post("s1", "SessionStart", { source: "startup" });
    await post("s1", "UserPromptSubmit", { prompt: "hi" });
    await post("s1", "Stop", { last_assistant_message: "Done." });
    await waitUntil(() => postsOf().includes("Done."), 15_000);
    expect(server.threads()).toHaveLength(1);
    expect(server.contentsOf(server.projectChannel)).toHaveLength(1);
  }, 20_000);
});

describe("Stop", () => {
  test("posts the last response of the transcript, cut after 1,900 characters", async () => {
    configure();
    await fixture.start();
    await startSession("s1");
    const transcript_path = fixture.appendTranscript(
      "s1",
      user,
      assistant({ type: "text", text: "a".repeat(2_500) }),
    );
    await post("s1", "UserPromptSubmit", { prompt: "hi", transcript_path });
    await post("s1", "Stop", { transcript_path });
    await waitUntil(() => postsOf().includes(`${"a".repeat(1_900)}...`), 5_000);
    expect(await phaseOf("s1")).toBe("interactable");
  });

  test.each([
    ["an empty transcript", []],
    ["only what the user wrote", [user]],
    ["only thinking", [user, assistant({ type: "thinking", thinking: "hm" })]],
    ["only a tool call", [user, assistant({ type: "tool_use", id: "1", name: "Bash", input: {} })]],
  ])("with %s posts the phase and no response", async (_name, rows) => {
    configure();
    await fixture.start();
    await startSession("s1");
    const transcript_path = fixture.appendTranscript("s1", ...rows);
    await post("s1", "UserPromptSubmit", { prompt: "hi", transcript_path });
    await post("s1", "Stop", { transcript_path });
    await waitUntil(() => postsOf().at(-1) === "Ready for your next prompt", 5_000);
    expect(postsOf()).toEqual(["Ready for your next prompt"]);
    expect(await phaseOf("s1")).toBe("interactable");
  });

  test("masks a secret in the response", async () => {
    configure();
    await fixture.start();
    await startSession("s1");
    const key = `AKIA${"ABCDEFGH23456789"}`;
    const transcript_path = fixture.appendTranscript(
      "s1",
      user,
      assistant({ type: "text", text: `The key is ${key}.` }),
    );
    await post("s1", "UserPromptSubmit", { prompt: "hi", transcript_path });
    await post("s1", "Stop", { transcript_path });
    await waitUntil(() => postsOf().some((text) => text.startsWith("The key is")), 5_000);
    expect(postsOf().join("\n")).not.toContain(key);
  });

  test("does not wait for a Discord that hangs", async () => {
    configure();
    await fixture.start();
    await startSession("s1");
    server.api.fail(/./, ...Array.from({ length: 20 }, () => "hang" as const));
    const started = performance.now();
    for (let n = 0; n < 5; n++) {
      await post("s1", "UserPromptSubmit", { prompt: `${n}` });
      await post("s1", "Stop", { last_assistant_message: `answer ${n}` });
    }
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(await phaseOf("s1")).toBe("interactable");
  });
});

test("phases are posted as they change, and the end of the session", async () => {
  configure();
  await fixture.start();
  await startSession("s1");
  const steps: readonly [string, Record<string, unknown>, string][] = [
    ["UserPromptSubmit", { prompt: "hi" }, "Working"],
    [
      "PermissionRequest",
      { tool_name: "Bash", tool_input: { command: "rm secret" } },
      "Waiting for you: Permission for Bash",
    ],
    ["PostToolUse", { tool_name: "Bash", tool_input: { command: "rm secret" } }, "Working"],
    ["Stop", {}, "Ready for your next prompt"],
    ["SessionEnd", { reason: "prompt_input_exit" }, "The session has ended."],
  ];
  for (const [name, fields, text] of steps) {
    await post("s1", name, fields);
    await waitUntil(() => postsOf().at(-1) === text, 5_000, text);
  }
  expect(postsOf()).toEqual(steps.map(([, , text]) => text));
  const messages = server.sent().filter(({ channel }) => channel !== server.channel);
  expect(messages.every(({ allowedMentions, flags }) => allowedMentions && flags === 4)).toBe(true);
});
