/** A file that another session has changed, with `workGuard.collisions: "ask"`: the real CLIs that can ask do, and the others' models are told. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { geminiDriver } from "../agent/other/gemini.ts";
import { opencodeConfig, opencodeDriver } from "../agent/other/opencode.ts";
import { callTool } from "../agent/other/prompts.ts";
import type { CliDriver, OtherSandbox } from "../agent/other/sandbox.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { guardSettings, project } from "../agent/other/work-guard.ts";
import { waitUntil } from "../wait-until.ts";

const file = `${project}/both.txt`;
const hook = (hook_event_name: string, more: object = {}) =>
  JSON.stringify({ session_id: "another", cwd: project, hook_event_name, ...more });
const call = { tool_name: "Write", tool_input: { file_path: file, content: "x" }, tool_use_id: "t1" };
/** A session of Claude Code that has removed the file, and lives. A file that is not there can be written without reading it first. */
const otherSession = [
  ...[hook("SessionStart", { source: "startup" }), hook("UserPromptSubmit", { prompt: "change it" })],
  ...[hook("PreToolUse", call), hook("PostToolUse", { ...call, tool_response: {} })],
  hook("Stop", { last_assistant_message: "Changed." }),
]
  .map((payload) => `printf '%s' '${payload}' | ${home}/.local/bin/beckon hook claude\n`)
  .concat("sleep 600\n")
  .join("");

const settings = (files: Readonly<Record<string, string>> = {}) =>
  guardSettings(
    { collisions: "ask" },
    {
      files: {
        "proj/both.txt": "first\n",
        "other.sh": otherSession,
        ".gitconfig": "[user]\nname = a\nemail = a@b.c\n",
        ...files,
      },
    },
  );

/** The file has another session's change, which is not committed, and the agent is told to write it. */
async function edit(sandbox: OtherSandbox, start: string, prompt: string): Promise<void> {
  await sandbox.runShell("cd proj && git init -q && git add -A && git commit -qm first && rm both.txt");
  await sandbox.startCli(start);
  await sandbox.runShell(`tmux -S ${home}/tmux.sock new-window -d "bash ${home}/other.sh"`);
  await sandbox.waitForSession(({ lastResponse }) => lastResponse === "Changed.", "the other session");
  await sandbox.typeLine(prompt);
}

function describeAsk(driver: CliDriver, start: string): void {
  const { testDriven } = createOtherCliTests(driver);
  testDriven(
    "asks before it edits a file that another session has changed, though it accepts edits",
    async (sandbox) => {
      await edit(sandbox, start, callTool("write_file", { file_path: file, content: "written\n" }));
      await sandbox.waitForDialog("permission");
      await sandbox.waitForSession(
        ({ provider, group, asks }) => provider === driver.cli.id && group === "needs_you" && asks.length > 0,
        "the ask",
      );
      await sandbox.waitForScreen(/beckon: both\.txt also changed by claude/);
      const read = async () => (await sandbox.space.run(["cat", file], {})).stdout;
      expect(await read()).toBe("");
      await waitUntil(
        async () => {
          if ((await read()) === "written\n") return true;
          await sandbox.pressKeys("Enter");
          return false;
        },
        45_000,
        "the file is written",
        2_000,
      );
    },
    settings(),
  );
}

describeAsk(geminiDriver, "--approval-mode=auto_edit");

createOtherCliTests(opencodeDriver).testDriven(
  "its model is told below the result, because it cannot ask",
  async (sandbox) => {
    await edit(sandbox, "", callTool("write", { filePath: file, content: "written\n" }));
    await waitUntil(
      () => sandbox.readLastText().includes("both.txt also changed by claude"),
      45_000,
      () => `the model is told, not ${sandbox.readLastText()}`,
      200,
    );
  },
  settings(opencodeConfig({ bash: "allow", edit: "allow" })),
);
