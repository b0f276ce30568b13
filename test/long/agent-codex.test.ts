/** More of the real Codex: its shared server and answers, interruptions, errors, several sessions, and faults of beckon. */
import { expect } from "bun:test";
import { home } from "../agent/namespace.ts";
import { codexDriver, escalate, question, say, startTrusted } from "../agent/other/codex.ts";
import { describeFaults } from "../agent/other/faults.ts";
import type { OtherSandbox } from "../agent/other/sandbox.ts";
import { createOtherCliTests } from "../agent/other/scenario.ts";

const { testScenario } = createOtherCliTests(codexDriver);

/** With its shared server, Codex can leave the first prompt unsent. */
async function sendFirst(sandbox: OtherSandbox): Promise<void> {
  await sandbox.typeLine("SAY started");
  for (let tries = 0; tries < 20; tries++) {
    await Bun.sleep(1_000);
    if (/^• started/m.test(await sandbox.readScreen())) return;
    if (tries % 4 === 3) await sandbox.pressKeys("Enter");
  }
  throw new Error("the first prompt was not sent");
}

/** Starts Codex with its shared server and one turn. The hooks are trusted first, in a terminal without it. */
async function startWithServer(sandbox: OtherSandbox): Promise<void> {
  await startTrusted(sandbox);
  await say(sandbox, "hello");
  await sandbox.leaveCli("/exit");
  await sandbox.startCli();
  await sendFirst(sandbox);
  await sandbox.waitUntilIdle();
}

/** Answers the open request with `beckon answer`, which closes the dialog. Returns what beckon showed of the request. */
async function answer(sandbox: OtherSandbox, ...args: string[]): Promise<string> {
  const { sessionId } = await sandbox.waitForSession(
    ({ asks }) => asks.some(({ answerable }) => answerable),
    "an ask that can be answered",
  );
  const { stdout } = await sandbox.beckon.run("answer", sessionId);
  const { code, stderr } = await sandbox.beckon.run("answer", sessionId, ...args);
  expect([code, stderr]).toEqual([0, ""]);
  await sandbox.waitUntilNoDialog();
  await sandbox.waitUntilIdle();
  return stdout;
}

testScenario("answers given in beckon close the open dialog of the shared server", async (sandbox) => {
  await startWithServer(sandbox);
  await sandbox.prompt(escalate("touch allowed"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  await answer(sandbox, "allow", "--yes");
  await sandbox.look("allowed");

  await sandbox.prompt(escalate("touch denied"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  await answer(sandbox, "deny");
  await sandbox.look("denied");

  await sandbox.pressKeys("BTab");
  await Bun.sleep(800);
  await sandbox.prompt(question);
  await sandbox.waitForDialog("question");
  await sandbox.look("question");
  await answer(sandbox, "Blue");
  await sandbox.look("answered");
  const { stdout } = await sandbox.space.run(["ls", "proj"], {});
  expect(stdout).toBe("allowed\n");
});

testScenario("a change of files is shown in full, and allowed and denied in beckon", async (sandbox) => {
  await startWithServer(sandbox);
  // Outside of the project, so Codex asks.
  const patch = (name: string) => {
    const lines = ["*** Begin Patch", `*** Add File: ${home}/${name}`, "+a line", "*** End Patch"];
    const cmd = ["apply_patch <<'EOF'", ...lines, "EOF", ""].join("\n");
    return `DO tool exec_command ${JSON.stringify({ cmd })}`;
  };
  await sandbox.prompt(patch("allowed.txt"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  expect(await answer(sandbox, "allow", "--yes")).toMatch(/Change .*allowed\.txt[\s\S]*\+a line/);
  await sandbox.look("allowed");
  expect(sandbox.hasFile("allowed.txt")).toBe(true);

  await sandbox.prompt(patch("denied.txt"));
  await sandbox.waitForDialog("permission");
  await sandbox.look("dialog");
  await answer(sandbox, "deny");
  await sandbox.look("denied");
  expect(sandbox.hasFile("denied.txt")).toBe(false);
});

testScenario("Esc while it works, an API error, /compact, /new and the next prompts", async (sandbox) => {
  await startTrusted(sandbox);
  await say(sandbox, "hello");
  await sandbox.prompt(`DO tool exec_command ${JSON.stringify({ cmd: "sleep 30", yield_time_ms: 30_000 })}`);
  await sandbox.look("working");
  await sandbox.pressKeys("Escape");
  await sandbox.waitUntilIdle();
  await sandbox.look("interrupted");
  await sandbox.typeLine("DO error 400");
  await sandbox.waitForSession(({ error }) => error !== null, "the error");
  await sandbox.waitUntilIdle();
  await sandbox.look("error");
  await say(sandbox, "next");
  await sandbox.waitForSession(({ error, tokens }) => error === null && tokens !== null, "tokens");
  await sandbox.typeLine("/compact");
  await sandbox.waitForScreen(/compacted/i);
  await sandbox.waitUntilIdle();
  await sandbox.look("compacted");
  await sandbox.typeLine("/new");
  await Bun.sleep(2_000);
  await say(sandbox, "again");
  await sandbox.waitForSession(({ endReason }) => endReason === "clear", "the session that was left");
  await sandbox.look("in the new session");
  await sandbox.leaveCli("/exit");
  await sandbox.waitForSession(
    ({ state, endReason }) => state === "completed" && endReason !== "clear",
    "the end",
  );
});

describeFaults(codexDriver, {
  createPrompt: escalate,
  exit: "/exit",
  async start(sandbox) {
    await startTrusted(sandbox);
    await say(sandbox, "hello");
  },
});
