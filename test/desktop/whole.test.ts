/** The whole compiled app on a real desktop: from a hook to the pane, used with a mouse. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalTarget } from "../../src/core/terminals/terminal.ts";
import { createClock } from "../../src/system/clock.ts";
import { parseJsonLines } from "../json-lines.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { desktopNeeds, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { createTerminalHarness, type TerminalHarness } from "./terminals-harness.ts";

const onDesktop = testWith(...desktopNeeds, "xterm", "tmux", "dbus-monitor");
const limitMs = 120_000;
const soonMs = 20_000;

describe("on a desktop", () => {
  let desktop: VirtualDesktop;
  let terminals: TerminalHarness;
  let socket: string;
  let state: string;
  let traffic = "";
  let count = 0;
  /** The session that asked while the user looked at its pane. */
  let looked = "";

  const tmux = (...args: string[]) => desktop.run("tmux", "-S", socket, "-f", "/dev/null", ...args);
  const activePane = () => tmux("display-message", "-p", "-t", "=main:", "#{pane_id}");
  const read = (name: string) => readFileSync(join(state, name), "utf8").trim();
  const beckon = (...args: string[]) => desktop.run("env", `BECKON_HOME=${state}`, binary, ...args);
  const findNotifications = () => desktop.windows("--class", "xfce4-notifyd");

  async function hook(session_id: string, target: TerminalTarget, event: object): Promise<void> {
    const { pid, procStart, env } = target.place;
    const { host } = createClock()();
    const _meta = { id: `e${++count}`, workspace_id: session_id, pid, procStart, host, env };
    const body = {
      provider: "claude",
      _meta,
      payload: { session_id, cwd: `/home/ann/${session_id}`, ...event },
    };
    const response = await fetch(`${JSON.parse(read("endpoint.json")).url}/api/hook`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: read("auth-header").replace("Authorization: ", ""),
      },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  }
  const bash = (command: string) => ({ tool_name: "Bash", tool_input: { command } });
  const asks = (session: string, target: TerminalTarget, command: string) =>
    hook(session, target, { hook_event_name: "PermissionRequest", ...bash(command) });
  const answered = (session: string, target: TerminalTarget, command: string) =>
    hook(session, target, { hook_event_name: "PostToolUse", tool_use_id: `t-${command}`, ...bash(command) });
  const works = (session: string, target: TerminalTarget, command: string) =>
    hook(session, target, { hook_event_name: "PreToolUse", tool_use_id: `t-${command}`, ...bash(command) });
  const lookAt = async (name: string) =>
    expect(await terminals.terminals.focus(await terminals.locate(name))).toMatchObject({ result: "exact" });

  /**
   * Asks until an alert is suppressed because the user looks at the pane, and returns that session. beckon waits 300 ms at
   * most to learn which pane is visible, and a busy machine can take longer: then the alert is shown.
   */
  async function askWithoutAlert(target: TerminalTarget): Promise<string> {
    for (let attempt = 1; attempt <= 5; attempt++) {
      const session = `notes-${attempt}`;
      await works(session, target, "make all");
      await asks(session, target, "make all");
      let entry: { readonly what: string; readonly outcome: string } | undefined;
      await waitUntil(async () => {
        const entries = parseJsonLines(await beckon("log", "--json"));
        entry = entries.find((each) => each.session === `claude:${session}`);
        return entry !== undefined;
      }, soonMs);
      if (entry?.what === "not shown" && entry.outcome === "you are looking at it") return session;
      await answered(session, target, "make all");
      await waitUntil(async () => (await findNotifications()).length === 0, soonMs);
      traffic = "";
    }
    throw new Error("every alert was shown");
  }

  beforeAll(async () => {
    desktop = await startDesktop({ panel: true, notifications: true });
    terminals = createTerminalHarness(desktop);
    state = join(desktop.home, "state");
    socket = join(desktop.home, "tmux");
    const run = (title: string, at: string, command: string[]) =>
      desktop.spawn(["xterm", "-geometry", `60x14${at}`, "-T", title, "-e", ...command]);
    run("alone", "+20+60", terminals.agentCommand("alone"));
    await terminals.waitForWindow("alone");
    await tmux("new-session", "-d", "-s", "main", terminals.agentCommand("left").join(" "));
    await tmux("split-window", "-h", "-t", "main", terminals.agentCommand("right").join(" "));
    run("panes", "+20+330", ["tmux", "-S", socket, "attach"]);
    await terminals.waitForWindow("panes");
    run("elsewhere", "+440+330", terminals.agentCommand("elsewhere"));
    await terminals.waitForWindow("elsewhere");
    const monitor = desktop.spawn(["dbus-monitor", "interface='org.freedesktop.Notifications'"]);
    (async () => {
      for await (const chunk of monitor.stdout) traffic += new TextDecoder().decode(chunk);
    })();
    await desktop.startBeckon([binary], {
      BECKON_HOME: state,
      CLAUDE_CONFIG_DIR: join(desktop.home, "claude"),
    });
  }, limitMs);
  afterAll(async () => {
    await desktop?.run("tmux", "-S", socket, "kill-server").catch(() => {});
    await desktop?.stop();
  });

  onDesktop(
    "an ask shows a notification, and a click on it goes to the exact pane",
    async () => {
      const right = await terminals.locate("right");
      await lookAt("elsewhere");
      await tmux("select-pane", "-t", (await terminals.locate("left")).place.env.TMUX_PANE ?? "");
      await works("webshop", right, "npm run build");
      await asks("webshop", right, "npm run build");
      await waitUntil(async () => (await findNotifications()).length > 0, soonMs);
      expect(traffic).toContain("webshop wants to use Bash");
      expect(traffic).toContain("npm run build");
      await desktop.screenshot("whole-ask");
      const [notification = ""] = await findNotifications();
      const { x, y, width, height } = await desktop.areaOf(notification);
      // On its button: a click elsewhere only closes an xfce4-notifyd notification.
      await desktop.click(x + width - 70, y + height - 30);
      await waitUntil(async () => (await terminals.activeTitle()).includes("panes"), soonMs);
      await waitUntil(async () => (await activePane()) === right.place.env.TMUX_PANE, soonMs);
      await desktop.screenshot("whole-there");
      await answered("webshop", right, "npm run build");
    },
    limitMs,
  );

  onDesktop(
    "the notification disappears when the ask is answered in the terminal",
    async () => {
      await waitUntil(async () => (await findNotifications()).length === 0, soonMs);
      const left = await terminals.locate("left");
      await lookAt("elsewhere");
      await works("docs", left, "git push");
      await asks("docs", left, "git push");
      await waitUntil(async () => (await findNotifications()).length > 0, soonMs);
      await answered("docs", left, "git push");
      await waitUntil(async () => (await findNotifications()).length === 0, soonMs);
    },
    limitMs,
  );

  onDesktop(
    "no notification is shown for the pane that the user looks at, until they look away",
    async () => {
      const alone = await terminals.locate("alone");
      await lookAt("alone");
      const session = await askWithoutAlert(alone);
      expect(await findNotifications()).toEqual([]);
      expect(traffic).not.toContain(`${session} wants`);
      expect(JSON.parse(await beckon("status", "--json")).sessions).toContainEqual(
        expect.objectContaining({ sessionId: session, activityPhase: "waiting_permission" }),
      );
      await lookAt("elsewhere");
      // A user who has just seen the dialog gets some time.
      await waitUntil(async () => (await findNotifications()).length > 0, 2 * soonMs);
      expect(traffic).toContain(`${session} wants to use Bash`);
      looked = session;
    },
    limitMs,
  );

  onDesktop(
    "`beckon focus` goes to a session, `--next` to the one that has waited longest",
    async () => {
      const right = await terminals.locate("right");
      await lookAt("elsewhere");
      await works("later", right, "ls");
      await asks("later", right, "ls");
      expect(await beckon("focus", "--next")).toStartWith("You are there. This is its terminal (");
      expect(await terminals.activeTitle()).toBe("alone");
      expect(await beckon("focus", "later")).toContain("tmux");
      expect(await terminals.activeTitle()).toBe("panes");
      await expect(beckon("focus", "nobody")).rejects.toThrow('no session has the id or project "nobody"');
      await answered("later", right, "ls");
      await answered(looked, await terminals.locate("alone"), "make all");
      await waitUntil(async () => (await findNotifications()).length === 0, soonMs);
      await expect(beckon("focus", "--next")).rejects.toThrow("no session needs you now");
    },
    limitMs,
  );
});
