/** A permission hook waits, the user clicks on a notification, and the hook prints the decision. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { timing } from "../../src/core/timing.ts";
import { createRequest, parseDecision } from "../answers/fixture.ts";
import { testWith } from "../needs.ts";
import { mainSource } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";
import { type Area, desktopNeeds, notifyd, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { chooseMenuEntry, connectToBus, findBlockedIcon, readMenuLabels } from "./tray-app.ts";

const hookEntry = join(import.meta.dir, "../fixtures/hook-entry.ts");
const onDesktop = testWith(...desktopNeeds, notifyd);
const limitMs = 120_000;
const soonMs = 20_000;
/** beckon ignores a click on a button less than 500 ms after the text changed. */
const readMs = 700;

describe("on a desktop", () => {
  let desktop: VirtualDesktop;
  let state: string;
  let count = 0;
  const hooks: ReturnType<VirtualDesktop["spawn"]>[] = [];

  const createEnv = (): Record<string, string> => ({
    BECKON_HOME: state,
    CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
    CLAUDE_CODE_SESSION_ATTENDED: "1",
    CLAUDE_PROJECT_DIR: "/home/dev/shop-api",
  });

  /** A hook as Claude Code runs it, which waits for an answer. */
  function asks(session: string, more: Record<string, unknown> = {}) {
    const input = join(desktop.home, `${session}.json`);
    writeFileSync(input, JSON.stringify(createRequest(session, more)));
    const hook = desktop.spawn(
      ["sh", "-c", 'exec "$1" "$2" claude <"$3"', "hook", process.execPath, hookEntry, input],
      createEnv(),
    );
    hooks.push(hook);
    return hook.stdout.text();
  }
  const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } });

  /** Waits until the notification has all its buttons and does not change any more. */
  async function waitForNotification(): Promise<Area> {
    let before = "";
    let notification: Area | undefined;
    await waitUntil(async () => {
      [notification] = await desktop.findNotifications();
      const now = JSON.stringify(notification);
      const isSame = notification !== undefined && now === before;
      before = now;
      await letTimePass(readMs, "it must stay the same for as long as a user reads it");
      return isSame;
    }, soonMs);
    if (notification === undefined) throw new Error("no notification");
    return notification;
  }
  const pressNth = (notification: Area, fromRight: number) => {
    const { x, y } = desktop.locateButton(notification, fromRight);
    return desktop.click(x, y);
  };
  const picture = (name: string, { x, y, width, height }: Area) =>
    desktop.screenshot(name, { x: x - 10, y: Math.max(0, y - 10), width: width + 20, height: height + 20 });

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    state = join(desktop.home, "state");
    await desktop.startBeckon([process.execPath, mainSource], createEnv());
  }, limitMs);
  afterEach(async () => {
    for (const hook of hooks.splice(0)) {
      hook.kill("SIGKILL");
      await hook.exited;
    }
  });
  afterAll(async () => {
    await desktop?.stop();
  });

  onDesktop(
    "a click on Allow allows the command",
    async () => {
      const printed = asks(`allow-${++count}`, bash("npm run lint -- --fix"));
      const notification = await waitForNotification();
      await picture("answer-allow", notification);
      await pressNth(notification, 2);
      expect(parseDecision(await printed)).toEqual({ behavior: "allow" });
      await waitUntil(async () => (await desktop.findNotifications()).length === 0, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "a click on Deny denies it",
    async () => {
      const printed = asks(`deny-${++count}`, bash("git push origin main"));
      const notification = await waitForNotification();
      await picture("answer-deny", notification);
      await pressNth(notification, 1);
      expect(parseDecision(await printed)).toMatchObject({ behavior: "deny" });
      await waitUntil(async () => (await desktop.findNotifications()).length === 0, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "a dangerous command is marked and has no Allow, and a click at its position answers nothing",
    async () => {
      const printed = asks(`danger-${++count}`, bash("rm -rf src && npm ci"));
      const notification = await waitForNotification();
      await picture("answer-danger", notification);
      // A click beside the buttons closes an xfce4-notifyd notification.
      await pressNth(notification, 2);
      await waitUntil(async () => (await desktop.findNotifications()).length === 0, soonMs);
      expect(hooks[0]?.exitCode).toBeNull();
      // Claude Code ends the hook like this when the user presses Esc.
      hooks[0]?.kill("SIGTERM");
      expect(await printed).toBe("");
    },
    limitMs,
  );

  onDesktop(
    "a question is answered with one of its options",
    async () => {
      const options = [
        { label: "SQLite", description: "one file, nothing to run" },
        { label: "Postgres", description: "what the other services use" },
        { label: "None", description: "keep it in memory" },
      ];
      const question = {
        question: "Which database should the new service use?",
        header: "Database",
        options,
        multiSelect: false,
      };
      const printed = asks(`question-${++count}`, {
        tool_name: "AskUserQuestion",
        tool_input: { questions: [question] },
        permission_suggestions: [],
      });
      const notification = await waitForNotification();
      await picture("answer-question", notification);
      await pressNth(notification, 2);
      expect(parseDecision(await printed)).toMatchObject({
        behavior: "allow",
        updatedInput: { answers: { [question.question]: "Postgres" } },
      });
    },
    limitMs,
  );

  onDesktop(
    "the menu allows a dangerous command only with a second click",
    async () => {
      const printed = asks(`two-clicks-${++count}`, bash("rm -rf src && npm ci"));
      await waitForNotification();
      const bus = await connectToBus(desktop);
      const readLabels = async () => (await readMenuLabels(bus)).map((label) => label.trim());
      const waitForEntry = async (label: string) => {
        await waitUntil(async () => (await readLabels()).includes(label), soonMs);
        await letTimePass(timing.minReadMs, "an answer that has just appeared cannot be clicked yet");
      };
      await waitForEntry("Allow… ⚠");
      expect(await readLabels()).toContainEqual(expect.stringMatching(/^● shop-api .*· now · ⚠ Bash: rm /));
      await chooseMenuEntry(bus, "Allow… ⚠");
      await waitForEntry("Yes, allow it ⚠");
      expect(hooks[0]?.exitCode).toBeNull();
      await chooseMenuEntry(bus, "Yes, allow it ⚠");
      expect(parseDecision(await printed)).toEqual({ behavior: "allow" });
      bus.close();
    },
    limitMs,
  );

  onDesktop(
    "the menu shows a command of many lines in full, and allows it",
    async () => {
      const command = `set -euo pipefail
for f in migrations/*.sql; do
    echo "applying $f"
    psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file "$f" >> migrations.log 2>&1
done`;
      const printed = asks(`tray-${++count}`, bash(command));
      await waitForNotification();
      const icon = await findBlockedIcon(desktop);
      if (icon === null) throw new Error("no icon in the panel");
      const countWindows = async () => (await desktop.windows("--name", ".*")).length;
      const before = await countWindows();
      await desktop.click(icon.x, icon.y, 3);
      await waitUntil(async () => (await countWindows()) > before, soonMs);
      await desktop.key("Down", "Right");
      await desktop.screenshot("answer-tray");
      await desktop.key("Escape", "Escape", "Escape", "Escape");
      const bus = await connectToBus(desktop);
      const labels = (await readMenuLabels(bus)).map((label) => label.trim());
      expect(labels).toContain('│     echo "applying $f"');
      await chooseMenuEntry(bus, "Allow");
      expect(parseDecision(await printed)).toEqual({ behavior: "allow" });
      bus.close();
    },
    limitMs,
  );
});
