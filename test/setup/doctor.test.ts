/** What doctor says about each link, for every state it can be in. */
import { describe, expect, test } from "bun:test";
import type { Finding } from "../../src/agents/finding.ts";
import type { NotifierReport } from "../../src/core/interfaces/index.ts";
import { type AppFacts, checkApp } from "../../src/setup/doctor/app.ts";
import { checkFiles, type FilesFacts } from "../../src/setup/doctor/files.ts";
import { checkIcon } from "../../src/setup/doctor/icon.ts";
import { checkLiveTest, type LiveFacts, type LiveResult } from "../../src/setup/doctor/live.ts";
import { checkLogin, type LoginFacts } from "../../src/setup/doctor/login.ts";
import { checkNotifications } from "../../src/setup/doctor/notifications.ts";
import { type AppReport, type ProbeReport, readReport } from "../../src/setup/doctor/report.ts";
import { checkTerminals } from "../../src/setup/doctor/terminals.ts";
import { checkTraces } from "../../src/setup/doctor/traces.ts";

const brief = (findings: readonly Finding[]) => findings.map(({ state, id }) => `${state} ${id}`);
const fixes = (findings: readonly Finding[]) => findings.map(({ fix }) => fix).join("\n");

const dunst: NotifierReport = {
  way: "D-Bus",
  server: "dunst 1.9.0",
  abilities: ["actions", "body", "sound", "persistence"],
  namesAlerts: true,
  missing: null,
};
const report = (more: Partial<AppReport> = {}): AppReport => ({
  version: "1.0.0",
  isHeadless: false,
  env: { DISPLAY: ":0", DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/user/1000/bus" },
  tray: { way: "StatusNotifierItem", host: "xfce4-panel (pid 312)", missing: null },
  title: "beckon: nothing needs you",
  notifier: dunst,
  isSilenced: false,
  quiet: null,
  alertsOn: true,
  problems: [],
  stream: null,
  probes: [],
  ...more,
});

describe("the app", () => {
  const facts: AppFacts = {
    answer: { kind: "up", pid: 7, ms: 3.2, report: report() },
    url: "http://127.0.0.1:4488",
    wantedPort: 4488,
    version: "1.0.0",
    isOff: false,
    isInstalled: true,
    env: { DISPLAY: ":0" },
    log: "/s/beckon.log",
  };
  const up = (more: Partial<AppReport>, ms = 3) => ({
    kind: "up" as const,
    pid: 7,
    ms,
    report: report(more),
  });

  const cases: [string, Partial<AppFacts>, string[]][] = [
    ["as it should be", {}, ["ok app.running", "ok app.version"]],
    ["down", { answer: { kind: "down" } }, ["fail app.down"]],
    ["quit by the user", { answer: { kind: "down" }, isOff: true }, ["fail app.off"]],
    ["hung", { answer: { kind: "silent", pid: 7, why: "waited 2 s" } }, ["fail app.silent"]],
    ["another token", { answer: { kind: "refused", pid: 7, status: 401 } }, ["fail app.refused"]],
    ["slow", { answer: up({}, 900) }, ["warn app.slow", "ok app.version"]],
    ["older", { answer: up({ version: "0.9.0" }) }, ["ok app.running", "warn app.other-version"]],
    [
      "so old that it knows no doctor",
      { answer: { kind: "up", pid: 7, ms: 3, report: null } },
      ["ok app.running", "warn app.other-version"],
    ],
    [
      "on another port",
      { url: "http://127.0.0.1:4489" },
      ["ok app.running", "ok app.version", "info app.port"],
    ],
    [
      "started over SSH, without a desktop",
      { answer: up({ isHeadless: true, env: { SSH_CONNECTION: "a b c d" } }) },
      ["ok app.running", "ok app.version", "fail app.elsewhere"],
    ],
    [
      "on another screen",
      { answer: up({ env: { DISPLAY: ":1" } }) },
      ["ok app.running", "ok app.version", "warn app.elsewhere"],
    ],
    [
      "where a variable sends hooks elsewhere",
      { env: { BECKON_URL: "http://127.0.0.1:9" } },
      ["ok app.running", "ok app.version", "warn app.url"],
    ],
    [
      "on a desktop, asked over SSH",
      { env: { SSH_CONNECTION: "a b c d" } },
      ["ok app.running", "ok app.version"],
    ],
  ];
  test.each(cases)("%s", (_, more, says) => expect(brief(checkApp({ ...facts, ...more }))).toEqual(says));

  test("neither installed nor running: only the hooks have a fix", () => {
    const answer = { kind: "down" as const };
    expect(checkApp({ ...facts, answer })).toMatchObject([{ fix: "Run: beckon start" }]);
    expect(checkApp({ ...facts, answer, isInstalled: false })).toMatchObject([
      { text: "not running: beckon --install also starts it", fix: null },
    ]);
  });

  test("an app that hangs is named, with how to end it", () => {
    const answer = { kind: "silent" as const, pid: 4711, why: "waited 2 s" };
    expect(fixes(checkApp({ ...facts, answer }))).toContain("kill 4711");
  });
});

test("waiting events and logged errors are reported", () => {
  const now = 1_000_000_000;
  const files = { hookLog: "/h", log: "/l" };
  const facts = { waiting: 0, dropped: null, isUp: true, hookErrors: [], logErrors: [], ...files, now };
  expect(checkTraces(facts)).toEqual([]);
  const error = { at: now - 120_000, event: "Stop", text: "no answer within 1000 ms" };
  const found = checkTraces({ ...facts, waiting: 2, hookErrors: [error, error], logErrors: [error] });
  expect(found.map(({ text }) => text)).toEqual([
    "2 events wait in the spool, although beckon is running",
    "2 hook errors in the last 24 h, the latest 2 min ago: no answer within 1000 ms",
    "1 error in beckon's log in the last 24 h, the latest 2 min ago: no answer within 1000 ms",
  ]);
  expect(checkTraces({ ...facts, waiting: 1, isUp: false })).toMatchObject([
    { state: "info", id: "app.spool", text: "1 event waits for beckon to start" },
  ]);
  expect(checkTraces({ ...facts, dropped: "7 events were dropped." })).toMatchObject([
    { state: "warn", id: "app.spool-full", text: "7 events were dropped." },
  ]);
});

describe("the files", () => {
  const facts: FilesFacts = {
    folder: "/s",
    authHeader: "/s/auth-header",
    state: { mode: 0o700, uid: 1000 },
    token: { mode: 0o600, uid: 1000, isGood: true },
    endpoint: "good",
    configProblems: [],
    unknownFolders: [],
    freeBytes: 1e12,
    me: 1000,
    isTokenRefused: false,
    isRunning: true,
  };
  const token = { mode: 0o600, uid: 1000, isGood: true };
  const cases: [string, Partial<FilesFacts>, string[]][] = [
    ["as they should be", {}, ["ok files.good"]],
    ["not there yet", { state: null, isRunning: false }, ["info files.folder"]],
    ["gone under its feet", { state: null }, ["fail files.folder"]],
    ["a folder open to others", { state: { mode: 0o755, uid: 1000 } }, ["fail files.folder-mode"]],
    ["another user's folder", { state: { mode: 0o700, uid: 0 } }, ["fail files.owner"]],
    ["a folder that cannot be read", { state: "EACCES" }, ["fail files.folder"]],
    ["a token that others can read", { token: { ...token, mode: 0o644 } }, ["fail files.token-mode"]],
    ["another user's token", { token: { ...token, uid: 0 } }, ["fail files.token-owner"]],
    ["a damaged token", { token: { ...token, isGood: false } }, ["fail files.token-damaged"]],
    ["no token", { token: null }, ["fail files.token-gone"]],
    ["a token that beckon does not take", { isTokenRefused: true }, ["fail files.token-refused"]],
    ["a damaged endpoint", { endpoint: "is damaged" }, ["fail files.endpoint"]],
    ["a folder that hooks do not use", { unknownFolders: ["/srv/b"] }, ["fail files.unknown-folder"]],
    ["settings with a mistake", { configProblems: ["config.json: x"] }, ["warn files.config"]],
    ["little room", { freeBytes: 100 * 1024 * 1024 }, ["warn files.space"]],
    ["no room", { freeBytes: 0 }, ["fail files.space"]],
    ["Windows, where modes mean nothing", { me: null, state: { mode: 0o777, uid: 0 } }, ["ok files.good"]],
  ];
  test.each(cases)("%s", (_, more, says) => expect(brief(checkFiles({ ...facts, ...more }))).toEqual(says));
});

describe("the live event", () => {
  const run = { code: 0, stdout: "", stderr: "", ms: 12 };
  const probe: ProbeReport = {
    session: "claude:beckon-doctor-1",
    isCounted: true,
    alert: { handle: "abc :1.4 17" },
    held: null,
    reach: null,
  };
  const live: LiveResult = {
    request: run,
    end: run,
    receivedMs: 20,
    countedMs: 40,
    alertMs: 60,
    probe,
    isRemoved: true,
  };
  const facts = (more: Partial<LiveResult>, shows = { icon: true, alerts: true }): LiveFacts => ({
    path: "~/.claude/settings.json",
    reason: null,
    outcome: { kind: "up", result: { ...live, ...more }, shows, notifier: dunst },
  });
  const well = ["ok live.heard", "ok live.counted", "ok live.alert", "ok live.gone"];

  const cases: [string, LiveFacts, string[]][] = [
    ["through everything, and away", facts({}), well],
    ["without a desktop", facts({}, { icon: false, alerts: false }), ["ok live.heard", "ok live.gone"]],
    ["not heard", facts({ receivedMs: null, isRemoved: null, end: null }), ["fail live.unheard"]],
    ["slowly", facts({ receivedMs: 800 }), ["warn live.slow", ...well.slice(1)]],
    ["not counted", facts({ countedMs: null }), [well[0] ?? "", "fail live.uncounted", ...well.slice(2)]],
    [
      "held back",
      facts({ probe: { ...probe, alert: null, held: "quiet hours until 08:00" } }),
      ["ok live.heard", "ok live.counted", "warn live.held", "ok live.gone"],
    ],
    [
      "an alert that the server never took",
      facts({ probe: { ...probe, alert: { handle: null } } }),
      ["ok live.heard", "ok live.counted", "fail live.no-alert", "ok live.gone"],
    ],
    [
      "no alert",
      facts({ probe: { ...probe, alert: null }, alertMs: null }),
      ["ok live.heard", "ok live.counted", "fail live.no-alert", "ok live.gone"],
    ],
    ["stays", facts({ isRemoved: false }), [...well.slice(0, 3), "fail live.stays"]],
    ["a hook that fails", facts({ request: { ...run, code: 1 } }), ["fail live.exit", ...well]],
    ["a hook that hangs", facts({ request: { ...run, code: null } }), ["fail live.hangs", ...well]],
    ["a hook that talks", facts({ request: { ...run, stdout: "hello" } }), ["fail live.stdout", ...well]],
    ["a hook that says nothing in JSON", facts({ request: { ...run, stdout: "{}" } }), well],
    [
      "with the app down",
      {
        path: null,
        reason: "no hook is registered",
        outcome: { kind: "down", request: run, isSpooled: true },
      },
      ["ok live.kept"],
    ],
    [
      "with the app down, and lost",
      {
        path: null,
        reason: "no hook is registered",
        outcome: { kind: "down", request: run, isSpooled: false },
      },
      ["fail live.lost"],
    ],
  ];
  test.each(cases)("%s", (_, given, says) => expect(brief(checkLiveTest(given))).toEqual(says));
});

describe("the icon", () => {
  const gnome = { XDG_CURRENT_DESKTOP: "ubuntu:GNOME" };
  const missing = { way: "StatusNotifierItem", host: null, missing: "no panel here takes icons" };

  test("names the program that shows it", () => {
    expect(checkIcon(report(), "linux")[0]?.text).toBe("StatusNotifierItem, shown by xfce4-panel (pid 312)");
  });
  test("names the extension that GNOME needs", () => {
    const found = checkIcon(report({ tray: missing, env: gnome }), "linux");
    expect(brief(found)).toEqual(["fail icon.missing"]);
    expect(fixes(found)).toContain("AppIndicator and KStatusNotifierItem Support");
  });
  test("asks for a tray on other desktops", () => {
    expect(fixes(checkIcon(report({ tray: null }), "linux"))).toContain("Add a tray");
  });
  test("says where to look on macOS, which may hide it", () => {
    expect(fixes(checkIcon(report(), "darwin"))).toContain("System Settings → Menu Bar");
  });
  test("is not a problem without a desktop", () => {
    expect(brief(checkIcon(report({ isHeadless: true }), "linux"))).toEqual(["info icon.headless"]);
  });
});

describe("notifications", () => {
  const clock = () => "08:00";
  const look = (more: Partial<AppReport>) => brief(checkNotifications(report(more), clock));
  const as = (more: Partial<NotifierReport>) => look({ notifier: { ...dunst, ...more } });

  test("name the server and its abilities", () => {
    expect(checkNotifications(report(), clock)).toMatchObject([
      { state: "ok", text: "dunst 1.9.0 (actions, body, sound, persistence)" },
    ]);
  });
  test.each([
    [
      "no server",
      as({ server: null, missing: "no notification service runs" }),
      ["fail notifications.missing"],
    ],
    ["no notifier at all", look({ notifier: null }), ["fail notifications.none"]],
    ["no desktop", look({ isHeadless: true }), ["info notifications.headless"]],
    [
      "a server that can do little",
      as({ abilities: ["body"] }),
      [
        "ok notifications.server",
        "warn notifications.no-actions",
        "info notifications.no-sound",
        "info notifications.no-persistence",
      ],
    ],
    [
      "notify-send",
      as({ way: "notify-send", abilities: null }),
      ["ok notifications.server", "info notifications.way"],
    ],
    [
      "do not disturb",
      look({ isSilenced: true }),
      ["ok notifications.server", "warn notifications.silenced"],
    ],
    ["alerts off", look({ alertsOn: false }), ["ok notifications.server", "warn notifications.off"]],
    [
      "quiet hours",
      look({ quiet: { by: "quiet hours", until: 1 } }),
      ["ok notifications.server", "warn notifications.quiet"],
    ],
    [
      "quiet by hand",
      look({ quiet: { by: "you", until: null } }),
      ["ok notifications.server", "warn notifications.quiet"],
    ],
  ])("%s", (_, found, says) => expect(found).toEqual(says));
});

describe("terminals", () => {
  const installed = [
    { name: "tmux", reach: "pane", advice: null },
    { name: "Konsole", reach: "tab", advice: null },
    { name: "foot", reach: "single", advice: null },
    { name: "kitty", reach: "window", advice: "turn remote control on" },
  ] as const;

  test("doctor says how far a click gets in each, and what to turn on for more", () => {
    const own = { result: "exact", by: "tmux, X11", why: null } as const;
    expect(checkTerminals({ own, installed, hasTerminal: true })).toMatchObject([
      { state: "ok", text: "this terminal: a click gets all the way here (tmux, X11)" },
      { state: "ok", text: "a click gets to the pane or tab: tmux, Konsole" },
      { state: "ok", text: "a click gets to the window, which shows one session: foot" },
      { state: "info", text: "a click gets to the window, but not to a tab in it: kitty" },
      { state: "info", text: "kitty can do more", fix: "turn remote control on" },
    ]);
  });
  test.each([
    [{ result: "window", by: "VS Code, X11", why: "it cannot" } as const, "info terminals.own"],
    [{ result: "impossible", by: "", why: "GNOME on Wayland" } as const, "warn terminals.own"],
    [null, "info terminals.own"],
  ])("%j", (own, says) => {
    expect(brief(checkTerminals({ own, installed: [], hasTerminal: true }))).toEqual([says]);
  });
});

test("at login: on, off, turned off in the system, broken, and quit on purpose", () => {
  const item = { on: true, turnedOff: false, binary: "/b/beckon", problem: null };
  const look = (more: Partial<NonNullable<LoginFacts["item"]>>, isOff = false) =>
    brief(checkLogin({ item: { ...item, ...more }, isOff }));
  expect(look({})).toEqual(["ok login.on"]);
  expect(look({ on: false }, true)).toEqual(["info login.off", "info login.quit"]);
  expect(look({ on: false, turnedOff: true, problem: "you turned it off" })).toEqual(["info login.problem"]);
  const broken = { ...item, problem: "it starts /b/beckon, which is not there. Run: beckon --install" };
  expect(checkLogin({ item: broken, isOff: false })).toMatchObject([
    { state: "warn", text: "it starts /b/beckon, which is not there", fix: "Run: beckon --install" },
  ]);
});

test("a response that is not beckon's is ignored", () => {
  expect(readReport(report())).not.toBeNull();
  for (const body of [null, undefined, "hello", {}, { version: 1 }, []]) expect(readReport(body)).toBeNull();
});
