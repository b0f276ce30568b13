/** A user's day: sessions of several agents at once in one tmux, all connected by one install. */
import { expect } from "bun:test";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { claudeVariables, createClaudeJson, startFakeApi } from "../agent/claude-home.ts";
import { cliVersion, findCli, isCliCached } from "../agent/cli.ts";
import { home } from "../agent/namespace.ts";
import { testWithOtherCli } from "../agent/other/clis.ts";
import { codexDriver } from "../agent/other/codex.ts";
import { opencodeDriver } from "../agent/other/opencode.ts";
import { type OtherSandbox, openOtherSandbox } from "../agent/other/sandbox.ts";
import { defaultMode } from "../agent/sandbox.ts";
import { dialog } from "../agent/scenario.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

interface Member {
  readonly agent: string;
  readonly start: string;
  readonly ready: RegExp;
  /** What is pressed before the first prompt, one after the other. */
  readonly keys?: readonly string[];
  readonly prompt: string;
  readonly dialog: RegExp;
  /** The file that the approved command makes. */
  readonly file: string;
}

const members: readonly Member[] = [
  {
    agent: "claude",
    start: `claude ${defaultMode}`,
    ready: /\? for shortcuts/,
    prompt: "DO bash touch by-claude",
    dialog: dialog.permission,
    file: "by-claude",
  },
  {
    agent: "opencode",
    start: "opencode",
    ready: opencodeDriver.ready,
    prompt: opencodeDriver.createCommandPrompt("touch by-opencode"),
    dialog: opencodeDriver.dialogs.permission ?? /never/,
    file: "by-opencode",
  },
  {
    agent: "codex",
    start: "codex --no-daemon",
    ready: /Hooks need review/,
    keys: ["Down", "Enter"],
    prompt: codexDriver.createCommandPrompt("touch by-codex"),
    dialog: codexDriver.dialogs.permission ?? /never/,
    file: "by-codex",
  },
];

const timeoutMs = 240_000;
const pollMs = 200;
const waitMs = 45_000;

/** Claude Code's program and settings, and its own fake API. */
async function openMix(): Promise<OtherSandbox> {
  const { files, script } = findCli(cliVersion);
  if (script !== null) throw new Error("Claude Code is not a native program");
  const sandbox = await openOtherSandbox(opencodeDriver, {
    isInstalled: false,
    mounts: files,
    files: { ".claude.json": JSON.stringify(createClaudeJson(cliVersion)), ".claude/settings.json": "{}" },
    others: [codexDriver],
    env: { ...claudeVariables, ...codexDriver.env },
  });
  await startFakeApi(sandbox.space, "/dev/null");
  return sandbox;
}

const test = isCliCached(cliVersion)
  ? testWithOtherCli(opencodeDriver.cli, codexDriver.cli)
  : testWithOtherCli();

test(
  "sessions of several agents in one tmux are all shown right, and focus leads to the pane of each",
  async () => {
    const sandbox = await openMix();
    const { beckon, space } = sandbox;
    const tmux = async (...args: string[]) => {
      const result = await space.run(["tmux", "-S", `${home}/tmux.sock`, ...args], { HOME: home });
      if (result.code !== 0) throw new Error(`tmux ${args.join(" ")}: ${result.stderr}`);
      return result.stdout.trim();
    };
    const screenOf = (window: number) => tmux("capture-pane", "-p", "-t", `:${window}`);
    const waitFor = (what: string, isDone: () => Promise<boolean>) => waitUntil(isDone, waitMs, what, pollMs);
    const readSessions = async () => {
      const { stdout } = await beckon.run("status", "--json");
      const { sessions } = JSON.parse(stdout) as { sessions: SessionView[] };
      return new Map(sessions.map((session) => [session.provider, session]));
    };
    try {
      await beckon.start();
      await beckon.stopPolling();
      // A terminal without a window: only tmux itself can be switched. Its input stays open: an end of it would end the shell.
      const attach = `stty cols 150 rows 100; tmux -S ${home}/tmux.sock attach`;
      space.start(["sh", "-c", `sleep 600 | script -qfc "${attach}" /dev/null`], {
        HOME: home,
        TERM: "xterm-256color",
        PATH: process.env.PATH ?? "",
      });
      const { stdout: installed } = await beckon.run("--install", "--no-login");
      expect(installed).toStartWith(`This connects ${members.length} agents:\n`);

      for (const [window, { start, ready, keys = [] }] of members.entries()) {
        if (window > 0) await tmux("new-window", "-c", `${home}/proj`, "bash --norc --noprofile");
        await tmux("send-keys", "-t", `:${window}`, "-l", start);
        await tmux("send-keys", "-t", `:${window}`, "Enter");
        await waitFor(`the prompt of ${start}`, async () => ready.test(await screenOf(window)));
        for (const key of keys) {
          await letTimePass(500, "a dialog ignores keys in its first moment");
          await tmux("send-keys", "-t", `:${window}`, key);
        }
      }
      await letTimePass(2_000, "CLIs show their prompt before they read keys");
      for (const [window, { prompt, dialog: pattern }] of members.entries()) {
        await tmux("send-keys", "-t", `:${window}`, "-l", prompt);
        await waitFor(`the text ${prompt}`, async () =>
          (await screenOf(window)).replaceAll(/[\s│┃]+/g, "").includes(prompt.replaceAll(/\s+/g, "")),
        );
        await tmux("send-keys", "-t", `:${window}`, "Enter");
        await waitFor(`the dialog of ${prompt}`, async () => pattern.test(await screenOf(window)));
      }

      // Everyone waits.
      await waitFor("an ask of each agent", async () => {
        const sessions = await readSessions();
        return members.every(({ agent }) => sessions.get(agent)?.activityPhase === "waiting_permission");
      });
      const waiting = await readSessions();
      expect(waiting.size).toBe(members.length);
      const { stdout: table } = await beckon.run("status");
      for (const { agent } of members) expect(table).toContain(agent);
      for (const [window, { agent }] of members.entries()) {
        const id = waiting.get(agent)?.sessionId ?? "";
        const { stderr } = await beckon.run("focus", `${agent}:${id}`);
        const shown = await tmux("display-message", "-p", "#{window_index}");
        expect([agent, shown, stderr]).toEqual([
          agent,
          String(window),
          expect.stringContaining("tmux shows the pane now"),
        ]);
      }

      // One after the other is approved in its own window.
      for (const [window, { agent, file }] of members.entries()) {
        await tmux("send-keys", "-t", `:${window}`, "Enter");
        await waitFor(`the end of ${agent}'s turn`, async () => {
          return (await readSessions()).get(agent)?.activityPhase === "interactable";
        });
        expect(sandbox.hasFile(`proj/${file}`)).toBe(true);
        const others = members.slice(window + 1).map(({ agent: other }) => other);
        const sessions = await readSessions();
        for (const other of others)
          expect([other, sessions.get(other)?.activityPhase]).toEqual([other, "waiting_permission"]);
      }

      // The end of one ends no other.
      await sandbox.killCli();
      await waitFor("the end of opencode", async () => {
        return (await readSessions()).get("opencode")?.state === "completed";
      });
      for (const { agent } of members.filter((member) => member.agent !== "opencode"))
        expect((await readSessions()).get(agent)?.state).toBe("active");
    } catch (error) {
      for (const window of members.keys())
        console.log((await screenOf(window).catch(String)).replaceAll(/\n{2,}/g, "\n"));
      throw error;
    } finally {
      await sandbox.close();
    }
  },
  timeoutMs,
);
