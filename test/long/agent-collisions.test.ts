/** The real Claude Code and the real Codex in one repository: both show the other's changes until they are committed. */
import { expect } from "bun:test";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { claudeVariables, createClaudeJson, startFakeApi } from "../agent/claude-home.ts";
import { cliVersion, findCli, isCliCached } from "../agent/cli.ts";
import { home } from "../agent/namespace.ts";
import { testWithOtherCli } from "../agent/other/clis.ts";
import { codexDriver, patchingModel, startTrusted } from "../agent/other/codex.ts";
import { callTool } from "../agent/other/prompts.ts";
import { openOtherSandbox } from "../agent/other/sandbox.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

const timeoutMs = 180_000;
const waitMs = 45_000;

const test = isCliCached(cliVersion) ? testWithOtherCli(codexDriver.cli) : testWithOtherCli();

test(
  "Claude Code and Codex see each other's changes, and Claude Code asks before it edits Codex's file",
  async () => {
    const sandbox = await openOtherSandbox(codexDriver, {
      isInstalled: false,
      mounts: findCli(cliVersion).files,
      files: {
        ".claude.json": JSON.stringify(createClaudeJson(cliVersion)),
        ".claude/settings.json": "{}",
        ".config/beckon/config.json": JSON.stringify({ workGuard: { collisions: "ask" } }),
        "proj/both.txt": "first\n",
        "proj/gone.txt": "first\n",
        ".gitconfig": "[user]\nname = a\nemail = a@b.c\n",
      },
      env: claudeVariables,
    });
    const { beckon, space } = sandbox;
    const tmux = async (...args: string[]) => {
      const result = await space.run(["tmux", "-S", `${home}/tmux.sock`, ...args], { HOME: home });
      if (result.code !== 0) throw new Error(`tmux ${args.join(" ")}: ${result.stderr}`);
      return result.stdout.trim();
    };
    /** Codex is in the first window, Claude Code in the second. */
    const screenOf = (window: number) => tmux("capture-pane", "-p", "-t", `:${window}`);
    const waitForScreen = (window: number, pattern: RegExp) =>
      waitUntil(
        async () => pattern.test(await screenOf(window)),
        waitMs,
        async () => `${pattern} on the screen:\n${await screenOf(window)}`,
        100,
      );
    /** On a busy machine a CLI may take Enter for a part of pasted text. On an empty prompt it does nothing. */
    async function type(
      window: number,
      text: string,
      what: string,
      isDone: () => unknown,
      isUnsent: (screen: string) => boolean = () => true,
    ): Promise<void> {
      const condense = (shown: string) => shown.replaceAll(/[\s│┃]+/g, "");
      await tmux("send-keys", "-t", `:${window}`, "-l", text);
      await waitUntil(
        async () => condense(await screenOf(window)).includes(condense(text)),
        waitMs,
        text,
        100,
      );
      let enterAt = Number.NEGATIVE_INFINITY;
      const isOver = async () => {
        if (await isDone()) return true;
        if (performance.now() - enterAt > 4_000 && isUnsent(await screenOf(window))) {
          await tmux("send-keys", "-t", `:${window}`, "Enter");
          enterAt = performance.now();
        }
        return false;
      };
      await waitUntil(isOver, waitMs, what, 100);
    }
    const readSessions = async () => {
      const { stdout } = await beckon.run("status", "--json");
      const { sessions } = JSON.parse(stdout) as { sessions: SessionView[] };
      return new Map(sessions.map((session) => [session.provider, session]));
    };
    const sharedWith = async (agent: string): Promise<string[]> =>
      ((await readSessions()).get(agent)?.sharedFiles ?? []).map(
        (file) => `${file.path.replace(`${home}/proj/`, "")} ${file.agent}`,
      );
    const waitForShared = (agent: string, files: readonly string[]) =>
      waitUntil(
        async () => Bun.deepEquals(await sharedWith(agent), files),
        waitMs,
        async () => `${agent} shares ${files}, not ${await sharedWith(agent)}`,
        200,
      );
    const patch = (lines: readonly string[]) =>
      callTool("apply_patch", ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n"));
    try {
      await sandbox.runShell("cd proj && git init -q && git add -A && git commit -qm first");
      await startFakeApi(space, "/dev/null");
      await beckon.start();
      await beckon.stopPolling();
      await beckon.run("--install", "--no-login");
      await waitUntil(
        async () => /--guard/.test((await space.run(["cat", `${home}/.claude/settings.json`], {})).stdout),
        waitMs,
        "the guard's hook",
        100,
      );
      await startTrusted(
        sandbox,
        `--model ${patchingModel} --sandbox danger-full-access --ask-for-approval never`,
      );
      await tmux("new-window", "-c", `${home}/proj`, "bash --norc --noprofile");
      await tmux("send-keys", "-t", ":1", "-l", "claude --permission-mode acceptEdits");
      await tmux("send-keys", "-t", ":1", "Enter");
      await waitForScreen(1, /\? for shortcuts|accept edits on/);
      await letTimePass(1_500, "it shows its prompt before it reads keys");

      // Claude Code makes a file, and Codex changes it before it is committed.
      await type(1, "DO write new.txt", "the new file", () => sandbox.hasFile("proj/new.txt"));
      const change = patch(["*** Update File: new.txt", "@@", "-written by the model", "+written by codex"]);
      await type(0, change, "the change", async () =>
        (await space.run(["cat", `${home}/proj/new.txt`], {})).stdout.includes("codex"),
      );
      await waitForShared("claude", ["new.txt codex"]);
      await waitForShared("codex", ["new.txt claude"]);
      const { stdout } = await beckon.run("status");
      expect(stdout).toContain("new.txt also changed by codex in proj just now");
      // Codex has no dialog for it: its model was told, and the edit went on.
      const told = ["grep", "-rlE", "new.txt also changed by claude in proj", `${home}/.codex/sessions`];
      await waitUntil(
        async () => (await space.run(told, {})).stdout !== "",
        waitMs,
        "Codex's model was told",
        200,
      );

      await sandbox.runShell("cd proj && git add -A && git commit -qm second");
      await waitForShared("claude", []);
      await waitForShared("codex", []);

      // Codex removes a file, and Claude Code wants to write it again.
      await type(
        0,
        patch(["*** Delete File: gone.txt"]),
        "the end of the file",
        () => !sandbox.hasFile("proj/gone.txt"),
      );
      const isAsking = async () => (await readSessions()).get("claude")?.group === "needs_you";
      // An Enter in the dialog would allow it.
      const isUnsent = (screen: string) => /❯\s+DO write gone\.txt\s*\n─/.test(screen);
      await type(1, "DO write gone.txt", "an ask of Claude Code", isAsking, isUnsent);
      // The ask shows both changes.
      const claudeId = (await readSessions()).get("claude")?.sessionId ?? "";
      const asked = await beckon.run("answer", claudeId);
      expect(asked.stdout).toMatch(
        /Write gone\.txt\s+\+ .*\s+⟨not committed, changed by codex in proj⟩\s+⟨line 1⟩\s+- first/,
      );
      expect((await beckon.run("answer", claudeId, "wait")).code).toBe(0);
      await waitUntil(async () => !(await isAsking()), waitMs, "the ask is over", 100);
      await waitForScreen(1, /wait until that change is committed/);
      expect(sandbox.hasFile("proj/gone.txt")).toBe(false);

      await waitUntil(
        async () => (await readSessions()).get("claude")?.group === "ready",
        waitMs,
        "the end of the turn",
        100,
      );
      await type(1, "DO write gone.txt", "another ask of Claude Code", isAsking, isUnsent);
      // A dialog takes no key in its first moments.
      const allowed = async () => {
        if (sandbox.hasFile("proj/gone.txt")) return true;
        if (/❯ 1\. Yes/.test(await screenOf(1))) await tmux("send-keys", "-t", ":1", "Enter");
        return false;
      };
      await waitUntil(allowed, waitMs, "the file is written", 1_000);
      // It was set before beckon was installed.
      const known = "The work guard is on, but beckon's hooks are not";
      expect(beckon.readWarnings().filter((line) => !line.includes(known))).toEqual([]);
    } catch (error) {
      for (const window of [0, 1])
        console.log((await screenOf(window).catch(String)).replaceAll(/\n{2,}/g, "\n"));
      throw error;
    } finally {
      await sandbox.close();
    }
  },
  timeoutMs,
);
