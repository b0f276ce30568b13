/** What tray and alerts are told to show, and when. */
import { expect, test } from "bun:test";
import { claude } from "../../src/agents/claude/index.ts";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { createPresenter, type PresenterOptions } from "../../src/app/presenter.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import type { UserAction } from "../../src/core/config/user-action.ts";
import type { NotifierOptions } from "../../src/core/ports.ts";
import type { Alert, TrayView } from "../../src/core/view/view.ts";
import { createStore } from "../../src/state/store.ts";
import { createClock } from "../../src/system/clock.ts";
import { asked } from "../core/session/ask-fixture.ts";
import { until } from "../world.ts";

const clock = createClock();
let count = 0;

function create(before: Readonly<Record<string, unknown>> = {}, more: Partial<PresenterOptions> = {}) {
  const store = createStore();
  const views: TrayView[] = [];
  const screen = new Map<string, Alert>();
  const clicked: UserAction[] = [];
  let shows = 0;
  let saved: Readonly<Record<string, unknown>> = before;
  let notifying: NotifierOptions | null = null;
  const desk = createPresenter({
    clock,
    sessions: (now) => store.sessions(now),
    config: () => defaultConfig,
    asked: () => null,
    home: "/home/dev",
    facts: () => ({ hooksInstalled: true, version: "1.2.3", problems: [] }),
    terminals: {
      isLooking: async () => false,
    },
    before,
    keep(value) {
      const save = () => {
        saved = value();
      };
      return { schedule: save, flush: save };
    },
    onAction: (action) => void clicked.push(action),
    onHeld: () => {},
    onProblem: (text) => {
      throw new Error(text);
    },
    ...more,
  });
  store.subscribe(() => desk.refresh());
  const opened = desk.open({
    folder: "/nowhere",
    tray: async () => ({
      show: (view) => void views.push(view),
      about: async () => ({ way: "a fake", host: null, missing: null }),
      stop: async () => {},
    }),
    notifier: async (options) => {
      notifying = options;
      return {
        async show(alert) {
          shows++;
          screen.set(alert.key, alert);
          return `on-screen ${alert.key}`;
        },
        close: async (key) => void screen.delete(key),
        forget: async () => {},
        isSilenced: async () => false,
        about: async () => ({
          way: "a fake",
          server: null,
          abilities: null,
          namesAlerts: true,
          missing: null,
        }),
        stop: async () => {},
      };
    },
  });
  function tell(session_id: string, hook_event_name: string, fields: object = {}): void {
    const now = clock();
    const body = { session_id, hook_event_name, cwd: `/p/${session_id}`, ...fields };
    const hook = openEnvelope(body, "claude", now.host);
    const id = `e${++count}`;
    const event = hook && claude.translate(hook, { at: now.at, t: now.t, id, key: id });
    if (event) store.dispatch(event);
  }
  return {
    desk,
    opened,
    views,
    screen,
    clicked,
    tell,
    shows: () => shows,
    saved: () => saved,
    notifying: () => notifying,
    last: () => views.at(-1),
  };
}
const bash = { tool_name: "Bash", tool_input: { command: "ls" } };
const titles = (screen: ReadonlyMap<string, Alert>) => [...screen.values()].map(({ title }) => title);

test("nothing shows before the start has settled; then everything is there", async () => {
  const { opened, views, screen, tell, last, desk } = create();
  await opened;
  tell("shop", "PermissionRequest", bash);
  await Bun.sleep(500);
  expect({ views, alerts: titles(screen) }).toEqual({ views: [], alerts: [] });
  await until(() => screen.size > 0, 2_000);
  expect(titles(screen)).toEqual(["shop wants to use Bash"]);
  expect(last()).toMatchObject({ icon: { phase: "blocked", count: 1 } });
  await desk.stop();
});

test("10,000 changes in a second end in the last one, shown a few times and not 10,000", async () => {
  const { opened, views, screen, tell, last, desk, shows } = create();
  await opened;
  await until(() => views.length > 0, 2_000);
  for (let n = 0; n < 10_000; n++) {
    tell("shop", n % 2 === 0 ? "PermissionRequest" : "Stop", bash);
    if (n % 100 === 0) await Bun.sleep(1);
  }
  await until(() => last()?.icon.phase === "calm" && screen.size === 0, 3_000);
  expect(views.length).toBeLessThan(200);
  expect(shows()).toBeLessThan(100);
  await desk.stop();
}, 20_000);

test("a click on an alert goes to its session; one that was closed stays closed, also after a restart", async () => {
  const first = create();
  await first.opened;
  first.tell("shop", "PermissionRequest", bash);
  await until(() => first.screen.size > 0, 3_000);
  const [key = ""] = first.screen.keys();
  first.notifying()?.onClick(key, null);
  expect(first.clicked).toEqual([{ do: "focus", session: "claude:shop" }]);
  first.screen.delete(key);
  first.notifying()?.onClosed(key, "person");
  first.tell("shop", "Notification", { notification_type: "other", message: "x" });
  await Bun.sleep(200);
  expect(first.shows()).toBe(1);
  await first.desk.stop();

  const second = create(JSON.parse(JSON.stringify(first.saved())));
  await second.opened;
  second.tell("shop", "PermissionRequest", bash);
  await until(() => second.views.length > 0, 3_000);
  await Bun.sleep(200);
  expect(second.shows()).toBe(0);
  await second.desk.stop();
});

test("quiet for an hour: the icon still tells, nothing pops up; it is remembered", async () => {
  const { opened, screen, tell, last, desk, saved } = create();
  await opened;
  desk.setPreference({ do: "quiet", mode: "hour" });
  tell("shop", "PermissionRequest", bash);
  await until(() => last()?.icon.phase === "blocked", 3_000);
  await Bun.sleep(100);
  expect(titles(screen)).toEqual([]);
  expect(saved()).toMatchObject({ wishes: { quietUntil: expect.any(Number) } });
  desk.setPreference({ do: "quiet", mode: "off" });
  await until(() => screen.size > 0, 1_000);
  await desk.stop();
});

test("nothing pops up about a pane that the person looks at, until they look away", async () => {
  let looks = true;
  const isLooking = async () => looks;
  const terminals: PresenterOptions["terminals"] = {
    isLooking,
  };
  const { opened, screen, tell, last, desk } = create({}, { terminals, lingerMs: 500 });
  await opened;
  tell("shop", "PermissionRequest", { ...bash, _meta: { pid: process.pid, tty: "/dev/pts/1" } });
  await until(() => last()?.icon.phase === "blocked", 3_000);
  await Bun.sleep(300);
  expect(titles(screen)).toEqual([]);
  looks = false;
  await until(() => screen.size > 0, 2_500);
  await desk.stop();
});

test("a word that no session says is there for a while, and a click on it goes nowhere", async () => {
  const { opened, screen, desk, clicked, notifying } = create();
  await opened;
  desk.showMessage("beckon cannot go there", "The terminal is gone.");
  await until(() => screen.size > 0, 3_000);
  const [key = ""] = screen.keys();
  notifying()?.onClick(key, null);
  expect(clicked).toEqual([]);
  await desk.stop();
});

test("who answers one question and looks away is told of the next at once, and of a failure", async () => {
  let looks = true;
  const terminals: PresenterOptions["terminals"] = {
    isLooking: async () => looks,
  };
  const { opened, screen, tell, last, desk } = create({}, { terminals });
  const place = { _meta: { pid: process.pid, tty: "/dev/pts/1" } };
  await opened;
  tell("shop", "PermissionRequest", { ...bash, ...place });
  await until(() => last()?.icon.phase === "blocked", 3_000);
  await Bun.sleep(100);
  tell("shop", "PostToolUse", { ...bash, tool_use_id: "t1" });
  tell("shop", "PostToolBatch");
  looks = false;
  await Bun.sleep(300);
  expect(titles(screen)).toEqual([]);
  tell("shop", "PermissionRequest", { tool_name: "Write", tool_input: { file_path: "/p/a" } });
  await until(() => screen.size > 0, 1_000);
  tell("shop", "StopFailure", { error: "overloaded" });
  await until(() => [...screen.values()].some(({ kind }) => kind === "failed"), 2_000);
  await desk.stop();
});

test("stopped while tray and notifier are still being opened, both are stopped as soon as they are there", async () => {
  const stopped: string[] = [];
  const { desk } = create();
  const late = desk.open({
    folder: "/nowhere",
    tray: async () => {
      await Bun.sleep(100);
      return {
        show: () => void stopped.push("shown"),
        about: async () => ({ way: "a fake", host: null, missing: null }),
        stop: async () => void stopped.push("tray"),
      };
    },
    notifier: async () => {
      await Bun.sleep(100);
      return {
        show: async () => null,
        close: async () => {},
        forget: async () => {},
        isSilenced: async () => null,
        about: async () => ({
          way: "a fake",
          server: null,
          abilities: null,
          namesAlerts: true,
          missing: null,
        }),
        stop: async () => void stopped.push("notifier"),
      };
    },
  });
  await desk.stop();
  await late;
  expect(stopped.sort()).toEqual(["notifier", "tray"]);
});

test("a button answers the ask it was made for; so soon that nobody can have read it, it goes there instead", async () => {
  const { opened, screen, tell, clicked, notifying, desk } = create({}, { asked: () => asked() });
  await opened;
  tell("shop", "PermissionRequest", bash);
  await until(() => screen.size > 0, 3_000);
  const [alert] = screen.values();
  const [allow] = alert?.buttons ?? [];
  if (!alert || !allow) throw new Error("no buttons");
  notifying()?.onClick(alert.key, allow.id);
  expect(clicked).toEqual([{ do: "focus", session: "claude:shop" }]);
  await Bun.sleep(600);
  notifying()?.onClick(alert.key, allow.id);
  expect(clicked[1]).toEqual(allow.action);
  await desk.stop();
});

test("a button of an ask that is over answers nothing, and says so", async () => {
  const { opened, screen, tell, clicked, notifying, desk } = create({}, { asked: () => asked() });
  await opened;
  tell("shop", "PermissionRequest", bash);
  await until(() => screen.size > 0, 3_000);
  const [alert] = screen.values();
  tell("shop", "Stop");
  await until(() => screen.size === 0, 3_000);
  notifying()?.onClick(alert?.key ?? "", alert?.buttons?.[0]?.id ?? null);
  await until(() => screen.size > 0, 3_000);
  expect(titles(screen)).toEqual(["Nothing was answered"]);
  expect(clicked).toEqual([]);
  await desk.stop();
});
