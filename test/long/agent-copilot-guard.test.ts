/** The work guard with the real Copilot CLI. */
import { expect } from "bun:test";
import { copilotDriver } from "../agent/other/copilot.ts";
import { callTool } from "../agent/other/prompts.ts";
import type { OtherSandbox } from "../agent/other/sandbox.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";
import { guardSettings, project } from "../agent/other/work-guard.ts";

const { testDriven } = createOtherCliTests(copilotDriver);
const strict = guardSettings({ projects: { [project]: { mode: "strict", ignore: ["*.md"] } } });

const create = (name: string): string =>
  callTool("create", { path: `${project}/${name}`, file_text: "written\n" });

/** By its name: it would ask the user about a path outside of the project. */
const beginPort = copilotDriver.createCommandPrompt(
  "beckon port create login --title Login && beckon port start login",
);

async function send(sandbox: OtherSandbox, prompt: string): Promise<string> {
  const before = sandbox.readRequests().length;
  await sandbox.typeLine(prompt);
  await sandbox.waitForRequests(before + 2);
  await sandbox.waitUntilIdle();
  return sandbox.readLastText();
}

testDriven(
  "edits go through in strict, and are recorded with and without a port",
  async (sandbox) => {
    await sandbox.startCli("--allow-all-tools");
    await send(sandbox, create("one.txt"));
    await sandbox.waitForEvent("untracked_edit");
    await send(sandbox, beginPort);
    await sandbox.waitForSession(({ port }) => port?.id === "login", "the port");
    const change = { path: `${project}/one.txt`, old_str: "written", new_str: "changed" };
    await send(sandbox, callTool("edit", change));
    await sandbox.waitForEvent("file_edit", "login");
    expect(await sandbox.listFiles()).toEqual(["one.txt"]);
  },
  strict,
);

testDriven(
  "it obeys Claude Code's hook of the guard in the project, with its own files and port",
  async (sandbox) => {
    const { code } = await sandbox.beckon.run("--install", "--no-login", "--agent", "claude");
    expect(code).toBe(0);
    expect(sandbox.hasFile("proj/.claude/settings.local.json")).toBe(true);
    await sandbox.startCli("--allow-all-tools");
    expect(await send(sandbox, create("one.txt"))).toContain("No port is running, so this edit is refused");
    await sandbox.waitForEvent("untracked_edit");
    await send(sandbox, create("README.md"));
    await send(sandbox, beginPort);
    await send(sandbox, create("two.txt"));
    expect(await sandbox.listFiles()).toEqual(["README.md", "two.txt"]);
    await sandbox.runShell("rm .local/bin/beckon");
    await send(sandbox, create("three.txt"));
    expect(sandbox.hasFile("proj/three.txt")).toBe(true);
  },
  strict,
);
