/** The real Claude Code CLI: its background sessions, its usage and its status line. */
import { expect } from "bun:test";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { waitUntil } from "../wait-until.ts";
import type { Sandbox } from "./sandbox.ts";
import { createCliTests } from "./scenario.ts";

const { testWithoutErrors } = createCliTests();

async function readSessions(sandbox: Sandbox): Promise<readonly SessionView[]> {
  const { stdout } = await sandbox.beckon.run("status", "--json");
  return (JSON.parse(stdout) as { sessions: SessionView[] }).sessions;
}

async function waitForSession(
  sandbox: Sandbox,
  isWanted: (session: SessionView) => boolean,
): Promise<SessionView> {
  let session: SessionView | undefined;
  await waitUntil(async () => {
    session = (await readSessions(sandbox)).find(isWanted);
    return session !== undefined;
  }, 15_000);
  return session as SessionView;
}

testWithoutErrors(
  "a background session is listed, answered through beckon, and ends when it is stopped",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.runShell('cd proj && claude --bg --permission-mode default "DO bash touch x"');
    const asking = await waitForSession(
      sandbox,
      ({ activityPhase, evidence }) => activityPhase === "waiting_permission" && evidence === "proven",
    );
    const { sessionId, attach } = asking;
    expect(asking).toMatchObject({ attended: true, asks: [{ answerable: true }] });
    expect(attach).toBe(`claude attach ${sessionId.slice(0, 8)}`);
    const focus = await sandbox.beckon.run("focus", sessionId);
    expect(focus.stdout + focus.stderr).toContain(`Open it in a terminal: ${attach}`);
    expect((await sandbox.beckon.run("answer", sessionId, "allow")).code).toBe(0);
    await sandbox.waitForFile("proj/x");
    const done = await waitForSession(
      sandbox,
      ({ activityPhase, tokens }) => activityPhase === "interactable" && tokens !== null,
    );
    expect(done).toMatchObject({ model: "claude-opus-5-5", context: { window: 1_000_000 } });
    expect(done.costUsd).toBeGreaterThan(0);
    await sandbox.runShell(`claude stop ${attach?.split(" ").at(-1)}`);
    await waitForSession(sandbox, ({ state }) => state === "completed");
  },
);

testWithoutErrors(
  "the status line looks the same beside beckon, without beckon, and after the uninstall",
  async (sandbox) => {
    const readLine = async (): Promise<string> => {
      await sandbox.startCli();
      await sandbox.typeLine("SAY hello");
      await sandbox.waitForStatus("idle");
      await sandbox.waitForScreen(/MINE {2}line/);
      const lines = (await sandbox.readScreen()).split("\n");
      await sandbox.typeLine("/exit");
      await sandbox.waitForStatus("gone");
      // The shell's prompt.
      await sandbox.waitForScreen(/[#$]\s*$/);
      const first = lines.findLastIndex((line) => line.includes("MINE"));
      return lines.slice(first, first + 2).join("\n");
    };
    const before = await readLine();
    expect(before).toContain("second line");
    await sandbox.beckon.start();
    expect((await sandbox.beckon.run("--install", "--no-login", "--statusline")).code).toBe(0);
    expect(await readLine()).toBe(before);
    const session = await waitForSession(sandbox, ({ context }) => context !== null);
    expect(session.context).toMatchObject({ window: 1_000_000 });
    expect((await sandbox.beckon.run("--uninstall")).code).toBe(0);
    expect(await readLine()).toBe(before);
  },
  {
    settings: {
      statusLine: { type: "command", command: "cat >/dev/null; printf 'MINE  line\\nsecond line' # mine" },
    },
  },
  90_000,
);
