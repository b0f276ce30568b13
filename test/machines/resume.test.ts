/** What happens while the link is down is known afterwards, once. Both apps and the link's program are real. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { bash, createPromptEvent, proj } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitForValue, waitUntil } from "../wait-until.ts";
import { readAsks, readStats } from "./same-history.ts";
import { createTwoMachines } from "./two-machines.ts";

const two = forEachTest(createTwoMachines);
const soonMs = 15_000;
const testMs = 60_000;

/** A permission request that no hook waits for, as the terminal's own dialog. */
const openAsk = (session_id: string, command: string) =>
  two.devbox.postHook({
    session_id,
    hook_event_name: "PermissionRequest",
    ...proj,
    tool_name: "Bash",
    tool_input: { command },
  });

/** The user allows it in the terminal: the tool runs. */
const allowInTerminal = (session_id: string, command: string) =>
  two.devbox.postHook({
    session_id,
    hook_event_name: "PostToolUse",
    ...proj,
    ...bash,
    tool_input: { command },
    tool_response: {},
  });

const areAsksOpen = async (id: string, count: number) =>
  (await two.laptop.fetchSession(id))?.asks.length === count;

/** How and when every ask ended, by the owner's history and by this one's. */
const readBoth = async () => {
  const [there, here] = await Promise.all([readAsks(two.devbox), readAsks(two.laptop)]);
  return { there, here };
};

async function expectSameAsks(count: number): Promise<void> {
  const isSame = ({ there, here }: Awaited<ReturnType<typeof readBoth>>) =>
    there.length === count &&
    there.every(({ how }, index) => how !== null && here[index]?.how === how) &&
    here.length === count;
  await waitForValue(readBoth, isSame, soonMs);
  const { there, here } = await readBoth();
  for (const [index, ask] of there.entries()) {
    const { at, waitedMs, ...same } = here[index] ?? { at: 0, waitedMs: 0 };
    const { at: _, waitedMs: __, ...expected } = ask;
    expect(same as typeof expected).toEqual(expected);
    expect(Math.abs(at - ask.at)).toBeLessThan(50);
    expect(Math.abs((waitedMs ?? 0) - (ask.waitedMs ?? 0))).toBeLessThan(100);
  }
}

describe("what happened while a machine was not linked", () => {
  test(
    "every ask is in the history here, once, with when and how it ended",
    async () => {
      await two.start();
      await two.devbox.postHook(createPromptEvent("s"));
      await openAsk("s", "seen");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await allowInTerminal("s", "seen");
      await waitUntil(() => areAsksOpen("s", 0), soonMs);
      await openAsk("s", "open when the link is lost");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await two.cut();
      await allowInTerminal("s", "open when the link is lost");
      await openAsk("s", "opened and closed meanwhile");
      await allowInTerminal("s", "opened and closed meanwhile");
      // Of a session that is not known here at all.
      await two.devbox.postHook(createPromptEvent("other"));
      await openAsk("other", "in another session");
      await allowInTerminal("other", "in another session");
      await openAsk("s", "open when it is back");
      await two.mend();
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await allowInTerminal("s", "open when it is back");
      await expectSameAsks(5);
      const [there, here] = await Promise.all([readStats(two.devbox), readStats(two.laptop)]);
      expect(here.today.asks).toBe(5);
      expect(Math.abs(here.today.waitedMs - there.today.waitedMs)).toBeLessThan(500);
    },
    testMs,
  );

  test(
    "also if the app here is killed as soon as it was linked for the first time",
    async () => {
      two.setMachines({ devbox: { command: two.link } });
      await two.devbox.start();
      await two.devbox.postHook(createPromptEvent("s"));
      const app = await two.laptop.startProcess();
      await two.waitForLink();
      app.kill("SIGKILL");
      await app.exited;
      await openAsk("s", "meanwhile");
      await allowInTerminal("s", "meanwhile");
      await two.laptop.start();
      await expectSameAsks(1);
    },
    testMs,
  );

  test(
    "also if the history here was damaged, and had to begin again",
    async () => {
      await two.start();
      await two.devbox.postHook(createPromptEvent("s"));
      await openAsk("s", "before");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await allowInTerminal("s", "before");
      await expectSameAsks(1);
      await two.laptop.stopApps();
      writeFileSync(two.laptop.paths.history, "this is not a database".repeat(1_000));
      await two.laptop.start();
      await expectSameAsks(1);
    },
    testMs,
  );

  test(
    "also if both apps were restarted meanwhile, and if the link is lost again",
    async () => {
      await two.start();
      await two.devbox.postHook(createPromptEvent("s"));
      await openAsk("s", "before");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await two.cut();
      await two.laptop.stopApps();
      await allowInTerminal("s", "before");
      await openAsk("s", "meanwhile");
      await allowInTerminal("s", "meanwhile");
      // The end of the last is known, and saved.
      await waitForValue(
        () => readAsks(two.devbox),
        (asks) => asks.length === 2 && asks.every(({ how }) => how !== null),
        soonMs,
      );
      await two.devbox.stopApps();
      await two.devbox.start();
      await two.laptop.start();
      await two.mend();
      await expectSameAsks(2);
      await two.cut();
      await two.mend();
      await openAsk("s", "after");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await allowInTerminal("s", "after");
      await expectSameAsks(3);
    },
    testMs,
  );

  test(
    "a machine that was set up anew is followed from its beginning",
    async () => {
      await two.start();
      await two.devbox.postHook(createPromptEvent("s"));
      await openAsk("s", "seen");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      await waitForValue(
        () => readAsks(two.laptop),
        (asks) => asks.length === 1,
        soonMs,
      );
      await two.cut();
      await two.laptop.stopApps();
      const saved = JSON.parse(two.laptop.read(two.laptop.paths.machineState));
      expect(saved.machines).toMatchObject([{ name: "devbox", shiftAt: 0 }]);
      await Bun.write(
        two.laptop.paths.machineState,
        JSON.stringify({ machines: [{ ...saved.machines[0], machineId: "another" }] }),
      );
      await allowInTerminal("s", "seen");
      await openAsk("s", "of somebody else");
      await allowInTerminal("s", "of somebody else");
      await two.laptop.start();
      await two.mend();
      await openAsk("s", "after");
      await waitUntil(() => areAsksOpen("s", 1), soonMs);
      const asks = await waitForValue(
        () => readAsks(two.laptop),
        (found) => found.length >= 2,
        soonMs,
      );
      expect(asks).toMatchObject([{ text: "Bash: after", how: null }, { text: "Bash: seen" }]);
    },
    testMs,
  );

  test(
    "what its sessions used counts here too, once",
    async () => {
      const use = async (message: string, output_tokens: number) => {
        const transcript_path = two.devbox.appendTranscript("s", {
          type: "assistant",
          requestId: message,
          message: {
            id: message,
            model: "claude-opus-4-5",
            usage: { input_tokens: 0, output_tokens },
            content: [],
          },
        });
        const event = { session_id: "s", hook_event_name: "Stop", ...proj, transcript_path };
        await two.devbox.postHook(createPromptEvent("s", { transcript_path }));
        await two.devbox.postHook({ ...event, last_assistant_message: "Done." });
      };
      const readUsage = async (machine: typeof two.laptop) => {
        const { tokens, costUsd } = (await readStats(machine)).today;
        return { tokens, costUsd };
      };
      const waitForTokens = async (tokens: number) => {
        for (const machine of [two.devbox, two.laptop])
          await waitForValue(
            () => readUsage(machine),
            (usage) => usage.tokens >= tokens,
            soonMs,
          );
        expect(await readUsage(two.laptop)).toEqual(await readUsage(two.devbox));
        expect((await readUsage(two.laptop)).tokens).toBe(tokens);
      };
      await two.start();
      await use("one", 1_000);
      await waitForTokens(1_000);
      await two.cut();
      await use("two", 200);
      await two.devbox.postHook({ session_id: "s", hook_event_name: "SessionEnd", ...proj, reason: "exit" });
      await two.mend();
      await waitForTokens(1_200);
      await two.cut();
      await two.mend();
      await waitForTokens(1_200);
    },
    testMs,
  );
});
