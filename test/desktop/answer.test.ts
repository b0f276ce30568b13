/** From a permission hook that waits to a real click on a real notification, and back to what the hook prints. */
import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decisionOf, request } from "../answers/world.ts";
import { testWith } from "../needs.ts";
import { until } from "../world.ts";
import { busOf, choose, findBlockedIcon, menuLabels } from "./tray-app.ts";
import { type Area, type Desktop, desktopNeeds, startDesktop } from "./world.ts";

const main = join(import.meta.dir, "../../src/main.ts");
const hookEntry = join(import.meta.dir, "../fixtures/hook-entry.ts");
const notifyd = "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd";
const onDesktop = testWith(...desktopNeeds, notifyd);
const limitMs = 60_000;
const soonMs = 10_000;
/** So soon after it came nobody has read what a button says. */
const readMs = 700;

describe("on a desktop", () => {
  let desktop: Desktop;
  let state: string;
  let count = 0;
  const hooks: ReturnType<Desktop["spawn"]>[] = [];

  const own = (): Record<string, string> => ({
    BECKON_HOME: state,
    CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
    CLAUDE_CODE_SESSION_ATTENDED: "1",
    CLAUDE_PROJECT_DIR: "/home/dev/shop-api",
  });

  /** A hook as Claude Code runs it, which waits for an answer. */
  function asks(session: string, more: Record<string, unknown> = {}) {
    const input = join(desktop.home, `${session}.json`);
    writeFileSync(input, JSON.stringify(request(session, more)));
    const hook = desktop.spawn(
      ["sh", "-c", 'exec "$1" "$2" claude <"$3"', "hook", process.execPath, hookEntry, input],
      own(),
    );
    hooks.push(hook);
    return hook.stdout.text();
  }
  const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } });

  async function notes(): Promise<Area[]> {
    const windows = await desktop.windows("--class", "xfce4-notifyd");
    const areas = await Promise.all(windows.map((window) => desktop.areaOf(window).catch(() => [])));
    return areas.flat().filter(({ width }) => width > 50);
  }
  /** Once it is on the screen with all its buttons and stays as it is. */
  async function settledNote(): Promise<Area> {
    let before = "";
    let note: Area | undefined;
    await until(async () => {
      [note] = await notes();
      const now = JSON.stringify(note);
      const isSame = note !== undefined && now === before;
      before = now;
      await Bun.sleep(readMs);
      return isSame;
    }, soonMs);
    if (note === undefined) throw new Error("no notification");
    return note;
  }
  /** xfce4-notifyd's buttons are 109 wide and 7 apart, from the right. */
  const pressNth = ({ x, y, width, height }: Area, fromRight: number) =>
    desktop.click(x + width - 14 - 54 - fromRight * 116, y + height - 30);
  const picture = (name: string, { x, y, width, height }: Area) =>
    desktop.screenshot(name, { x: x - 10, y: Math.max(0, y - 10), width: width + 20, height: height + 20 });

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    state = join(desktop.home, "state");
    const app = desktop.spawn([process.execPath, main], {
      ...own(),
      BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    });
    await until(() => app.exitCode !== null || existsSync(join(state, "endpoint.json")), soonMs);
    if (app.exitCode !== null) throw new Error(await app.stderr.text());
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
    "a click on Allow lets the command run",
    async () => {
      const printed = asks(`allow-${++count}`, bash("npm run deploy -- --env=production"));
      const note = await settledNote();
      await picture("answer-allow", note);
      await pressNth(note, 2);
      expect(decisionOf(await printed)).toEqual({ behavior: "allow" });
      await until(async () => (await notes()).length === 0, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "a click on Deny does not",
    async () => {
      const printed = asks(`deny-${++count}`, bash("git push origin main"));
      const note = await settledNote();
      await picture("answer-deny", note);
      await pressNth(note, 1);
      expect(decisionOf(await printed)).toMatchObject({ behavior: "deny" });
      await until(async () => (await notes()).length === 0, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "a dangerous command says so and has no Allow: a click where it would be answers nothing",
    async () => {
      const printed = asks(`danger-${++count}`, bash("rm -rf build && npm ci"));
      const note = await settledNote();
      await picture("answer-danger", note);
      // Beside its buttons, a click on an xfce4-notifyd note closes it.
      await pressNth(note, 2);
      await until(async () => (await notes()).length === 0, soonMs);
      expect(hooks[0]?.exitCode).toBeNull();
      // As Claude Code ends it when the person presses Esc.
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
      const asked = {
        question: "Which database should the new service use?",
        header: "Database",
        options,
        multiSelect: false,
      };
      const printed = asks(`question-${++count}`, {
        tool_name: "AskUserQuestion",
        tool_input: { questions: [asked] },
        permission_suggestions: [],
      });
      const note = await settledNote();
      await picture("answer-question", note);
      await pressNth(note, 2);
      expect(decisionOf(await printed)).toMatchObject({
        behavior: "allow",
        updatedInput: { answers: { [asked.question]: "Postgres" } },
      });
    },
    limitMs,
  );

  onDesktop(
    "the tray shows a command of many lines in full, and allows it",
    async () => {
      const command = `set -euo pipefail
for f in migrations/*.sql; do
    echo "applying $f"
    psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file "$f" >> migrations.log 2>&1
done`;
      const printed = asks(`tray-${++count}`, bash(command));
      await settledNote();
      const icon = await findBlockedIcon(desktop);
      if (icon === null) throw new Error("no icon in the panel");
      await desktop.click(icon.x, icon.y, 3);
      await Bun.sleep(readMs);
      for (const key of ["Down", "Right", "Right"]) {
        await desktop.key(key);
        await Bun.sleep(300);
      }
      await desktop.screenshot("answer-tray");
      await desktop.key("Escape", "Escape", "Escape", "Escape");
      const bus = await busOf(desktop);
      const labels = (await menuLabels(bus)).map((label) => label.trim());
      expect(labels).toContain('│     echo "applying $f"');
      await choose(bus, "Allow");
      expect(decisionOf(await printed)).toEqual({ behavior: "allow" });
      bus.close();
    },
    limitMs,
  );
});
