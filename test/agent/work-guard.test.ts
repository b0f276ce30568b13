/** The work guard with the real Claude Code CLI: what it refuses, what the model learns, and that it never blocks when absent. */
import { expect } from "bun:test";
import { readToolResult } from "./answering.ts";
import { home } from "./namespace.ts";
import { type Sandbox, type SandboxOptions, waitFor } from "./sandbox.ts";
import { createCliTests } from "./scenario.ts";

const { testWithoutErrors } = createCliTests();

const project = `${home}/proj`;
const local = "proj/.claude/settings.local.json";
const acceptEdits = "--permission-mode acceptEdits";
const withBash: SandboxOptions = { settings: { permissions: { allow: ["Bash"] } } };

/** The settings as a user would save them. */
const configure = (sandbox: Sandbox, workGuard: object): Promise<void> =>
  sandbox.runShell(
    `mkdir -p .config/beckon && printf '%s' '${JSON.stringify({ workGuard })}' >.config/beckon/config.json`,
  );

const guardProject = (sandbox: Sandbox, own: object): Promise<void> =>
  configure(sandbox, { projects: { [project]: own } });

/** Starts beckon and the CLI with the guard's hooks in place. */
async function startGuarded(sandbox: Sandbox, own: object): Promise<void> {
  await guardProject(sandbox, own);
  await sandbox.beckon.start();
  await sandbox.waitForFile(local);
  await sandbox.startCli(acceptEdits);
}

async function write(sandbox: Sandbox, file: string): Promise<void> {
  await sandbox.typeLine(`DO write ${file}`);
  await sandbox.waitForHook("Stop");
}

testWithoutErrors(
  "strict refuses an edit without a port and tells the model why; with a running port it goes through",
  async (sandbox) => {
    await startGuarded(sandbox, { mode: "strict" });

    await write(sandbox, "one.txt");
    expect(sandbox.hasFile("proj/one.txt")).toBe(false);
    const reason = readToolResult(sandbox);
    expect(reason).toContain("No port is running, so this edit is refused");
    expect(reason).toContain('port create ID --title "TITLE"');

    await sandbox.typeLine("DO bash beckon port create login --title Login && beckon port start login");
    await sandbox.waitForHook("Stop");
    expect(readToolResult(sandbox)).toContain("Started the port login (Login) for the session");
    await write(sandbox, "two.txt");
    expect(sandbox.hasFile("proj/two.txt")).toBe(true);
    await waitFor(
      "the port in beckon status",
      () => sandbox.recorder.shown.at(-1)?.sessions.some(({ port }) => port?.id === "login") === true,
    );

    await sandbox.typeLine("DO bash beckon port end");
    await sandbox.waitForHook("Stop");
    await write(sandbox, "three.txt");
    expect(sandbox.hasFile("proj/three.txt")).toBe(false);
  },
  withBash,
);
