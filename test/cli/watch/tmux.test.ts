/** The built beckon in a real terminal: tmux types the keys and shows what is on the screen. */
import { afterEach, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { timing } from "../../../src/core/timing.ts";
import {
  type AnswerFixture,
  createAnswerFixture,
  createRequest,
  parseDecision,
} from "../../answers/fixture.ts";
import { testWith } from "../../needs.ts";
import { openInbox } from "../../prompts/inbox.ts";
import { binary } from "../../repo.ts";
import { letTimePass, waitUntil } from "../../wait-until.ts";

const withTmux = testWith("tmux", binary);
const limitMs = 30_000;
let fixture: AnswerFixture;
beforeEach(async () => {
  fixture = createAnswerFixture();
  await fixture.start();
});
afterEach(async () => {
  await tmux("kill-server");
  await fixture.destroy();
});

async function tmux(...args: string[]): Promise<string> {
  const argv = ["tmux", "-S", join(fixture.home, "tmux"), "-f", "/dev/null", ...args];
  const child = Bun.spawn(argv, { env: fixture.env, stdout: "pipe", stderr: "ignore" });
  return child.stdout.text();
}
const capture = async (): Promise<string[]> => (await tmux("capture-pane", "-p")).trimEnd().split("\n");
const type = (...keys: string[]) => tmux("send-keys", ...keys);
/** Waits until the screen has a line that matches. */
async function shows(pattern: RegExp): Promise<string[]> {
  let screen = "";
  await waitUntil(async () => {
    screen = (await capture()).join("\n");
    return pattern.test(screen);
  }, 5_000).catch(() => {
    throw new Error(`${pattern} is not on the screen:\n${screen}`);
  });
  return screen.split("\n");
}

async function open(columns: number, rows: number): Promise<void> {
  const command = `${binary} status --watch; echo ended with $?; sleep 600`;
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "sh", "-c", command);
}
const inProject = (project: string) => ({ CLAUDE_PROJECT_DIR: `/home/dev/${project}` });
const asks = (id: string, project: string, command: string) =>
  fixture.startHook(
    createRequest(id, { cwd: `/home/dev/${project}`, tool_input: { command } }),
    inProject(project),
  );

withTmux(
  "moves, filters, answers a waiting hook and quits",
  async () => {
    const harmless = asks("11111111-a", "shop-api", "npm test");
    await fixture.waitForAsk("11111111-a");
    const lines = ["rm -rf src", ...Array.from({ length: 20 }, (_, n) => `echo ${n}`)];
    const dangerous = asks("22222222-b", "infra", lines.join("\n"));
    await fixture.waitForAsk("22222222-b");
    for (let n = 0; n < 20; n++) {
      await fixture.postHook({
        session_id: `${n}-busy`,
        hook_event_name: "UserPromptSubmit",
        prompt: "go",
        cwd: `/home/dev/busy-${n}`,
      });
    }

    await open(80, 24);
    await shows(/^▸ ● shop-api .*\n {2}● infra/m);
    await shows(/^Run a command\n {2}npm test$/m);

    await type("End");
    await shows(/^▸ ◐ (busy-\d+) .*\n── \1 .* 22\/22 ──$/m);
    await type("Home");
    await type("/");
    await type("inf");
    const filtered = await shows(/^\/inf▏ +1 of 22$/m);
    expect(filtered.filter((line) => /^[▸ ] [●◐]/.test(line))).toHaveLength(1);
    await type("Enter");

    // Dangerous: shown in full, and allowed with another key after the last line was seen.
    await type("a");
    await shows(/^infra asks .*\n─+\nRun a command\n⚠ deletes without asking/m);
    await type("y");
    await shows(/^Read it to the end first/m);
    expect(dangerous.isRunning()).toBe(true);
    await type("Space");
    await shows(/^ {2}echo 19$/m);
    await shows(/^y allow /m);
    await letTimePass(timing.minReadMs, "a y right after the request was opened does not count");
    await type("y");
    await shows(/^Allowed in infra: rm -rf src …$/m);
    expect(parseDecision(await dangerous.printed)).toEqual({ behavior: "allow" });

    // Among those that work, infra has worked longest.
    await type("Escape");
    await shows(/^▸ ◐ infra .*\n(?:.*\n)+── infra .* 2\/22 ──$/m);
    await type("Home");
    await shows(/^▸ ● shop-api/m);
    await shows(/^Run a command\n {2}npm test$/m);
    await waitUntil(async () => {
      await type("d");
      return !harmless.isRunning();
    }, 10_000);
    expect(parseDecision(await harmless.printed)).toMatchObject({ behavior: "deny" });

    await type("q");
    await shows(/^ended with 0$/m);
  },
  limitMs,
);

withTmux(
  "a terminal of 40×10 shows the list, the request and the keys",
  async () => {
    asks("11111111-a", "shop-api", "npm test");
    await fixture.waitForAsk("11111111-a");
    await open(40, 10);
    const screen = await shows(/^a allow {2}d deny {2}\? help {2}q quit$/m);
    expect(screen[0]).toBe("● 1 needs you");
    expect(screen[1]).toMatch(/^▸ ● shop-api +\d+s {2}Bash: npm test/);
    await tmux("resize-window", "-x", "80", "-y", "24");
    await shows(/^a allow {3}d deny {3}Enter go there/m);
    await type("C-c");
    await shows(/^ended with 0$/m);
  },
  limitMs,
);

withTmux(
  "the next prompt is written in a box, and reaches the session's inbox once",
  async () => {
    const inbox = openInbox(fixture, "33333333-c", { cwd: "/home/dev/shop-api" });
    try {
      await fixture.postHook({
        session_id: "33333333-c",
        hook_event_name: "Stop",
        cwd: "/home/dev/shop-api",
      });
      await open(80, 24);
      await shows(/^▸ . shop-api/m);
      await type("p");
      await shows(/^Next prompt for shop-api +Arrives as a message from @beckon$/m);
      // The session's inbox is found a moment after its hook.
      await shows(/^› {2}▏$/m);
      await type("/clear is text");
      await shows(/^› {2}\/clear is text▏$/m);
      await type("Enter");
      await waitUntil(() => inbox.taken.length === 1, 10_000);
      expect(JSON.parse(inbox.taken[0] ?? "")).toMatchObject({
        message: { content: expect.stringContaining("\n/clear is text\n") },
      });
      await shows(/^Sent\. The agent has not confirmed it yet/m);
      await type("p");
      await shows(/^ {3}\/clear is text\n {3}Sent$/m);
      await type("Escape");
      expect(inbox.taken).toHaveLength(1);
    } finally {
      inbox.close();
    }
  },
  limitMs,
);
