/** The work guard with the real Gemini CLI. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { geminiDriver } from "../agent/other/gemini.ts";
import { callTool } from "../agent/other/prompts.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testDriven } = createOtherCliTests(geminiDriver);

const write = (name: string): string =>
  callTool("write_file", { file_path: `${home}/proj/${name}`, content: "written\n" });
const workGuard = { projects: { [`${home}/proj`]: { mode: "strict" } } };

testDriven(
  "strict refuses an edit without a port and tells the model why; with a running port it goes through",
  async (sandbox) => {
    await sandbox.startCli("--approval-mode=auto_edit");
    await sandbox.prompt(write("one.txt"));
    await sandbox.waitUntilIdle();
    expect(sandbox.hasFile("proj/one.txt")).toBe(false);
    expect(sandbox.readLastText()).toContain("No port is running, so this edit is refused");
    await sandbox.runShell("cd proj && beckon port create login --title Login && beckon port start login");
    await sandbox.prompt(write("two.txt"));
    await sandbox.waitUntilIdle();
    expect(sandbox.hasFile("proj/two.txt")).toBe(true);
  },
  { files: { ".config/beckon/config.json": JSON.stringify({ workGuard }) } },
);
