/** Alerts and tray, rendered from the same state. */
import { expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { type AlertsOptions, createAlerts } from "../../src/alerts/index.ts";
import { createPageFocus } from "../../src/alerts/page-focus.ts";
import { createRenderLoop } from "../../src/app/render-loop.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { Notifier, NotifierEvents, PresenceReading } from "../../src/core/interfaces/index.ts";
import type { JsonRecord } from "../../src/core/json.ts";
import { createInternalEvent, type Enrichment } from "../../src/core/session/event.ts";
import { hourMs } from "../../src/core/timing.ts";
import type { Alert, TrayView } from "../../src/core/view/view.ts";
import { createTraySink } from "../../src/desktop/tray/sink.ts";
import { createPreferenceKeeper } from "../../src/preferences/index.ts";
import { createStore } from "../../src/state/store.ts";
import { createDetails } from "../core/session/ask-fixture.ts";
import { createVirtualTime } from "../virtual-time.ts";

let count = 0;

const trayReport = { way: "a fake", host: null, missing: null };

/** Keeps what is shown. */
function createRecordingNotifier() {
  const screen = new Map<string, Alert>();
  let shows = 0;
  const notifier: Omit<Notifier, "report"> = {
    async show(alert) {
      shows++;
      screen.set(alert.key, alert);
      return `on-screen ${alert.key}`;
    },
    close: async (key) => void screen.delete(key),
    forget: async () => {},
    isSilenced: async () => false,
    stop: async () => {},
  };
  return { notifier, screen, shows: () => shows };
}

function create(saved: JsonRecord = {}, more: Partial<AlertsOptions> = {}, time = createVirtualTime()) {
  const { clock, schedule, advance } = time;
  const store = createStore();
  const views: TrayView[] = [];
  const clicked: UserAction[] = [];
  const { notifier, screen, shows } = createRecordingNotifier();
  let written: JsonRecord = saved;
  let events: NotifierEvents | null = null;
  const onProblem = (text: string) => {
    throw new Error(text);
  };
  const onAction = (action: UserAction) => void clicked.push(action);
  const loop = createRenderLoop({ clock, sessions: store.sessions, onProblem, schedule });
  const createPart = (name: string) => (value: () => unknown) => {
    const save = () => {
      written = { ...written, [name]: value() };
    };
    return { schedule: save, flush: save };
  };
  const preferences = createPreferenceKeeper({
    clock,
    sessions: store.sessions,
    config: () => defaultConfig,
    saved: saved.preferences,
    createSaver: createPart("preferences"),
    onSet: loop.refresh,
  });
  const alerts = createAlerts({
    preferences,
    clock,
    sessions: store.sessions,
    config: () => defaultConfig,
    details: () => null,
    home: "/home/dev",
    terminals: { isPaneVisible: async () => false },
    isPageFocused: () => false,
    readPresence: async () => ({ idleMs: 0, isLocked: false }),
    agentName: (agent) => agent,
    savedCrossings: saved.crossings,
    createCrossingSaver: createPart("crossings"),
    saved: saved.shown,
    createSaver: createPart("shown"),
    refresh: loop.refresh,
    onShown: () => {},
    onSuppressed: () => {},
    onProblem,
    schedule,
    ...more,
  });
  const tray = createTraySink({
    config: () => defaultConfig,
    preferences: preferences.current,
    details: () => null,
    facts: () => ({ unconnected: [], version: "1.2.3", dashboard: true, agentName: String, problems: [] }),
    home: "/home/dev",
    refresh: loop.refresh,
    clock,
    showMessage: () => {},
    onProblem,
  });
  store.subscribe(() => loop.refresh());
  loop.add(alerts);
  loop.add(tray);
  const opened = Promise.all([
    tray.open({
      folder: "/nowhere",
      onAction,
      open: async () => ({
        show: (view) => void views.push(view),
        report: async () => trayReport,
        stop: async () => {},
      }),
    }),
    alerts.addNotifier({
      name: "desktop",
      onAction,
      open: async (given) => {
        events = given;
        return notifier;
      },
    }),
  ]);
  function send(session_id: string, hook_event_name: string, fields: object = {}): void {
    const now = clock();
    const body = { session_id, hook_event_name, cwd: `/p/${session_id}`, ...fields };
    const hook = openEnvelope(body, "claude", now.host);
    const id = `e${++count}`;
    const event = hook && claude.translate(hook, { at: now.at, t: now.t, id, key: id });
    if (event) store.dispatch(event);
  }
  function enrich(sessionId: string, known: Enrichment): void {
    const about = { agent: "claude", sessionId, cwd: null };
    store.dispatch(createInternalEvent(`e${++count}`, clock(), about, { kind: "enriched", with: known }));
  }
  return {
    alerts,
    preferences,
    enrich,
    tray,
    opened,
    advance,
    views,
    screen,
    clicked,
    send,
    shows,
    saved: () => written,
    events: () => events,
    last: () => views.at(-1),
    async stop() {
      loop.stop();
      await Promise.all([alerts.stop(), tray.stop()]);
    },
  };
}
const bash = { tool_name: "Bash", tool_input: { command: "ls" } };
const titles = (screen: ReadonlyMap<string, Alert>) => [...screen.values()].map(({ title }) => title);
/** From the start until the restored state has settled and is shown. */
const startMs = 1_100;
/** After a change: shown at once, and settled. */
const shownMs = 50;
const settledMs = 1_100;

test("nothing is shown before the restored state has settled; then everything is", async () => {
  const { opened, views, screen, send, last, advance, stop } = create();
  await opened;
  send("shop", "PermissionRequest", bash);
  await advance(1_000);
  expect({ views, alerts: titles(screen) }).toEqual({ views: [], alerts: [] });
  await advance(100);
  expect(titles(screen)).toEqual(["shop wants to use Bash"]);
  expect(last()).toMatchObject({ icon: { phase: "blocked", count: 1 } });
  await stop();
});

test("a session is not alerted while older events of it are not read; others are", async () => {
  const caughtUp = new Set(["claude:new"]);
  const { opened, screen, send, advance, stop } = create(
    {},
    { isCaughtUp: (session) => caughtUp.has(session) },
  );
  await opened;
  for (const session of ["old", "over", "new"]) send(session, "PermissionRequest", bash);
  await advance(startMs);
  expect(titles(screen)).toEqual(["new wants to use Bash"]);
  send("over", "Stop");
  caughtUp.add("claude:old").add("claude:over");
  send("old", "PreToolUse", bash);
  await advance(settledMs);
  expect(titles(screen).sort()).toEqual(["new wants to use Bash", "old wants to use Bash"]);
  await stop();
});

test("10,000 changes in ten seconds end in the last one, shown often but not 10,000 times", async () => {
  const { opened, views, screen, send, last, advance, stop, shows } = create();
  await opened;
  await advance(startMs);
  for (let n = 0; n < 10_000; n++) {
    send("shop", n % 2 === 0 ? "PermissionRequest" : "Stop", bash);
    if (n % 100 === 0) await advance(100);
  }
  await advance(settledMs);
  expect(last()?.icon.phase).toBe("calm");
  expect(titles(screen)).toEqual([]);
  expect(views.length).toBeLessThan(500);
  expect(shows()).toBeLessThan(250);
  await stop();
}, 20_000);

test("a quota that several sessions report over the share alerts once, also after a restart", async () => {
  const time = createVirtualTime();
  const resetsAt = time.clock().at + 2 * hourMs;
  const rateLimits = { fiveHour: { usedPercent: 84, resetsAt }, sevenDay: null };
  const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, quotaPercent: 80 } };
  const run = async (saved: JsonRecord) => {
    const one = create(saved, { config: () => config }, time);
    await one.opened;
    for (const session of ["shop", "web"]) {
      one.send(session, "UserPromptSubmit", { prompt: "go" });
      one.enrich(session, { rateLimits });
    }
    await one.advance(startMs);
    return one;
  };
  const first = await run({});
  expect(titles(first.screen)).toEqual(["claude: 84% of 5 h used"]);
  const [key = ""] = first.screen.keys();
  first.screen.delete(key);
  first.events()?.onClosed(key, "expired");
  first.enrich("web", { rateLimits: { ...rateLimits, fiveHour: { usedPercent: 91, resetsAt } } });
  await first.advance(settledMs);
  expect([titles(first.screen), first.shows()]).toEqual([[], 1]);
  await first.stop();

  const second = await run(JSON.parse(JSON.stringify(first.saved())));
  expect([titles(second.screen), second.shows()]).toEqual([[], 0]);
  await second.advance(2 * hourMs);
  expect(titles(second.screen)).toEqual(["claude: your limit of 5 h is back"]);
  await second.stop();
});

test("no limit alerts while the settings are off", async () => {
  const { opened, screen, send, enrich, advance, stop, saved } = create();
  await opened;
  send("shop", "UserPromptSubmit", { prompt: "go" });
  enrich("shop", { context: { used: 199, window: 200 } });
  await advance(startMs);
  expect([titles(screen), saved().crossings]).toEqual([[], undefined]);
  await stop();
});

test("a click on an alert goes to its session; a closed alert stays closed, also after a restart", async () => {
  const first = create();
  await first.opened;
  first.send("shop", "PermissionRequest", bash);
  await first.advance(startMs);
  const [key = ""] = first.screen.keys();
  first.events()?.onClick(key, null);
  expect(first.clicked).toEqual([{ do: "focus", session: "claude:shop" }]);
  first.screen.delete(key);
  first.events()?.onClosed(key, "user");
  first.send("shop", "Notification", { notification_type: "other", message: "x" });
  await first.advance(settledMs);
  expect(first.shows()).toBe(1);
  await first.stop();

  const second = create(JSON.parse(JSON.stringify(first.saved())));
  await second.opened;
  second.send("shop", "PermissionRequest", bash);
  await second.advance(startMs + settledMs);
  expect(second.last()?.icon.phase).toBe("blocked");
  expect(second.shows()).toBe(0);
  await second.stop();
});

test("quiet for an hour: the icon still counts, no alert is shown, and it is remembered", async () => {
  const { opened, screen, send, last, preferences, advance, stop, saved } = create();
  await opened;
  await advance(startMs);
  preferences.set({ do: "quiet", mode: "hour" });
  send("shop", "PermissionRequest", bash);
  await advance(settledMs);
  expect(last()?.icon.phase).toBe("blocked");
  expect(titles(screen)).toEqual([]);
  expect(saved()).toMatchObject({ preferences: { quietUntil: expect.any(Number) } });
  preferences.set({ do: "quiet", mode: "off" });
  await advance(shownMs);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("no alert about a pane that the user looks at, until they look away", async () => {
  let isLooking = true;
  const { opened, screen, send, last, advance, stop } = create(
    {},
    { terminals: { isPaneVisible: async () => isLooking } },
  );
  await opened;
  send("shop", "PermissionRequest", { ...bash, _meta: { pid: process.pid, tty: "/dev/pts/1" } });
  await advance(startMs + 60_000);
  expect(last()?.icon.phase).toBe("blocked");
  expect(titles(screen)).toEqual([]);
  isLooking = false;
  await advance(10_000);
  expect(titles(screen)).toEqual([]);
  await advance(10_000);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("no alert about any session while the dashboard has the focus, until its reports stop", async () => {
  const time = createVirtualTime();
  let changes = 0;
  let checksWhileFocused = 0;
  const pageFocus = createPageFocus({ clock: time.clock, onChange: () => changes++ });
  const { opened, screen, send, last, advance, stop } = create(
    {},
    {
      isPageFocused: pageFocus.isFocused,
      terminals: {
        async isPaneVisible() {
          checksWhileFocused += Number(pageFocus.isFocused());
          return false;
        },
      },
    },
    time,
  );
  await opened;
  const sessions = Array.from({ length: 30 }, (_, index) => `shop-${index}`);
  pageFocus.report(true);
  for (const name of sessions)
    send(name, "PermissionRequest", { ...bash, _meta: { pid: process.pid, tty: `/dev/pts/${name}` } });
  for (let seconds = 0; seconds < 60; seconds += 5) {
    await advance(5_000);
    pageFocus.report(true);
  }
  expect(last()?.icon.phase).toBe("blocked");
  expect(titles(screen)).toEqual([]);
  expect({ changes, checksWhileFocused }).toEqual({ changes: 1, checksWhileFocused: 0 });
  // The browser was killed.
  await advance(25_000);
  expect(titles(screen)).toEqual([]);
  await advance(5_000);
  expect(titles(screen).length).toBeGreaterThan(0);
  await stop();
});

test("a dashboard that loses the focus says so, and alerts come as for a pane that was left", async () => {
  const time = createVirtualTime();
  const pageFocus = createPageFocus({ clock: time.clock, onChange: () => {} });
  const { opened, screen, send, advance, stop } = create({}, { isPageFocused: pageFocus.isFocused }, time);
  await opened;
  pageFocus.report(true);
  send("shop", "PermissionRequest", { ...bash, _meta: { pid: process.pid, tty: "/dev/pts/1" } });
  await advance(startMs);
  pageFocus.report(false);
  await advance(10_000);
  expect(titles(screen)).toEqual([]);
  await advance(7_000);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("an ask on the focused dashboard is alerted once the user is away", async () => {
  let presence: PresenceReading = { idleMs: 0, isLocked: false };
  const { opened, screen, send, advance, stop } = create(
    {},
    { isPageFocused: () => true, readPresence: async () => presence },
  );
  await opened;
  send("shop", "PermissionRequest", { ...bash, _meta: { pid: process.pid, tty: "/dev/pts/1" } });
  await advance(startMs + 60_000);
  expect(titles(screen)).toEqual([]);
  presence = { idleMs: 31_000, isLocked: false };
  await advance(2_000);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("an ask is alerted where the user is, and here once they have come here", async () => {
  let elsewhere: string | null = "desktop";
  const { opened, screen, send, advance, stop } = create({}, { locateUser: async () => () => elsewhere });
  await opened;
  send("shop", "PermissionRequest", bash);
  await advance(startMs + 10_000);
  expect(titles(screen)).toEqual([]);
  elsewhere = null;
  await advance(6_000);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("an alert that was shown because the window system answered too late stays: it does not flash", async () => {
  let calls = 0;
  const { opened, screen, send, advance, shows, stop } = create(
    {},
    { terminals: { isPaneVisible: async () => (calls++ === 0 ? null : true) } },
  );
  await opened;
  const place = { _meta: { pid: process.pid, tty: "/dev/pts/1" } };
  send("shop", "PermissionRequest", { ...bash, ...place });
  await advance(startMs);
  expect(titles(screen)).toHaveLength(1);
  await advance(1_000);
  send("shop", "Notification", { notification_type: "other", message: "x" });
  await advance(1_000);
  expect({ shown: titles(screen).length, shows: shows() }).toEqual({ shown: 1, shows: 1 });
  await stop();
});

test("an ask that is answered while the window system is asked is never shown", async () => {
  const gate = Promise.withResolvers<boolean>();
  const { opened, screen, send, advance, shows, stop } = create(
    {},
    { terminals: { isPaneVisible: () => gate.promise } },
  );
  await opened;
  const place = { _meta: { pid: process.pid, tty: "/dev/pts/1" } };
  send("shop", "PermissionRequest", { ...bash, ...place });
  await advance(startMs);
  send("shop", "Stop");
  gate.resolve(false);
  await advance(settledMs);
  expect({ shown: titles(screen), shows: shows() }).toEqual({ shown: [], shows: 0 });
  await stop();
});

test.each([
  ["has been away for 30 s", { idleMs: 29_000, isLocked: false }, { idleMs: 31_000, isLocked: false }],
  ["locks the screen", { idleMs: 0, isLocked: false }, { idleMs: 0, isLocked: true }],
  [
    "locks the screen, and the idle time is unknown",
    { idleMs: null, isLocked: null },
    { idleMs: null, isLocked: true },
  ],
])("an ask in the focused pane is alerted once the user %s", async (_, atDesk, away) => {
  let presence: PresenceReading = atDesk;
  const { opened, screen, send, advance, stop } = create(
    {},
    { terminals: { isPaneVisible: async () => true }, readPresence: async () => presence },
  );
  await opened;
  const place = { _meta: { pid: process.pid, tty: "/dev/pts/1" } };
  send("shop", "PermissionRequest", { ...bash, ...place });
  await advance(startMs + 60_000);
  expect(titles(screen)).toEqual([]);
  presence = away;
  await advance(2_000);
  expect(titles(screen)).toHaveLength(1);
  await stop();
});

test("a message that belongs to no session is shown for 10 s, and a click on it does nothing", async () => {
  const { opened, screen, alerts, clicked, events, advance, stop } = create();
  await opened;
  await advance(startMs);
  alerts.showMessage("beckon cannot go there", "The terminal is gone.");
  await advance(shownMs);
  const [key = ""] = screen.keys();
  expect(titles(screen)).toEqual(["beckon cannot go there"]);
  events()?.onClick(key, null);
  expect(clicked).toEqual([]);
  await advance(10_100);
  expect(titles(screen)).toEqual([]);
  await stop();
});

test("after answering one ask and looking away, the next ask and a failure are shown at once", async () => {
  let isLooking = true;
  const { opened, screen, send, last, advance, stop } = create(
    {},
    { terminals: { isPaneVisible: async () => isLooking } },
  );
  const place = { _meta: { pid: process.pid, tty: "/dev/pts/1" } };
  await opened;
  send("shop", "PermissionRequest", { ...bash, ...place });
  await advance(startMs);
  expect(last()?.icon.phase).toBe("blocked");
  send("shop", "PostToolUse", { ...bash, tool_use_id: "t1" });
  send("shop", "PostToolBatch");
  isLooking = false;
  await advance(300);
  expect(titles(screen)).toEqual([]);
  send("shop", "PermissionRequest", { tool_name: "Write", tool_input: { file_path: "/p/a" } });
  await advance(shownMs);
  expect(titles(screen)).toEqual(["shop wants to use Write"]);
  send("shop", "StopFailure", { error: "overloaded" });
  await advance(settledMs);
  expect([...screen.values()].map(({ kind }) => kind)).toEqual(["failed"]);
  await stop();
});

test("if beckon stops while tray and notifier are being opened, both are stopped once they are open", async () => {
  const stopped: string[] = [];
  const { alerts, tray, opened, stop } = create();
  await opened;
  const gate = Promise.withResolvers<void>();
  const late = Promise.all([
    tray.open({
      folder: "/nowhere",
      onAction: () => {},
      open: async () => {
        await gate.promise;
        return {
          show: () => void stopped.push("shown"),
          report: async () => trayReport,
          stop: async () => void stopped.push("tray"),
        };
      },
    }),
    alerts.addNotifier({
      name: "late",
      onAction: () => {},
      open: async () => {
        await gate.promise;
        return { ...createRecordingNotifier().notifier, stop: async () => void stopped.push("notifier") };
      },
    }),
  ]);
  const stopping = stop();
  gate.resolve();
  await Promise.all([late, stopping]);
  expect(stopped.sort()).toEqual(["notifier", "tray"]);
});

test("a button answers the ask it was made for; clicked too soon to have been read, it goes to the terminal", async () => {
  const { opened, screen, send, clicked, events, advance, stop } = create(
    {},
    { details: () => createDetails() },
  );
  await opened;
  send("shop", "PermissionRequest", bash);
  await advance(startMs);
  const [alert] = screen.values();
  const [allow] = alert?.buttons ?? [];
  if (!alert || !allow) throw new Error("no buttons");
  events()?.onClick(alert.key, allow.id);
  expect(clicked).toEqual([{ do: "focus", session: "claude:shop" }]);
  await advance(600);
  events()?.onClick(alert.key, allow.id);
  if (allow.action.do !== "answer") throw new Error("no answer");
  const step = { ...allow.action.step, shownMs: expect.any(Number) as number };
  expect(clicked[1]).toEqual({ ...allow.action, step });
  await stop();
});

test("a button of an ask that is over answers nothing, and a message says so", async () => {
  const { opened, screen, send, clicked, events, advance, stop } = create(
    {},
    { details: () => createDetails() },
  );
  await opened;
  send("shop", "PermissionRequest", bash);
  await advance(startMs);
  const [alert] = screen.values();
  send("shop", "Stop");
  await advance(settledMs);
  expect(titles(screen)).toEqual([]);
  events()?.onClick(alert?.key ?? "", alert?.buttons?.[0]?.id ?? null);
  await advance(shownMs);
  expect(titles(screen)).toEqual(["Nothing was answered"]);
  expect(clicked).toEqual([]);
  await stop();
});

test("an alert that only waits for the grace time is not logged as suppressed", async () => {
  const suppressed: string[] = [];
  const config = { ...defaultConfig, alerts: { ...defaultConfig.alerts, graceMs: 3_000 } };
  const { opened, screen, send, advance, stop } = create(
    {},
    { config: () => config, onSuppressed: (_, reason) => void suppressed.push(reason) },
  );
  await opened;
  await advance(startMs);
  send("shop", "PermissionRequest", bash);
  await advance(2_000);
  expect(titles(screen)).toEqual([]);
  await advance(2_000);
  expect(titles(screen)).toHaveLength(1);
  expect(suppressed).toEqual([]);
  await stop();
});

test("two notifiers show the same alerts; one that is silenced shows none, and both close with the ask", async () => {
  const quiet = createRecordingNotifier();
  const { opened, alerts, screen, send, advance, stop } = create();
  await opened;
  await alerts.addNotifier({
    name: "phone",
    onAction: () => {},
    open: async () => ({ ...quiet.notifier, isSilenced: async () => true }),
  });
  send("shop", "PermissionRequest", bash);
  await advance(startMs);
  expect(titles(screen)).toHaveLength(1);
  expect(titles(quiet.screen)).toEqual([]);
  send("shop", "Stop");
  await advance(settledMs);
  expect(titles(screen)).toEqual([]);
  await stop();
});
