/**
 * bun test/desktop/pictures.ts [FOLDER [agents]]    Takes pictures of the built app on a real desktop.
 *
 * Without a folder it takes the README's. With one it also takes the menu with 1, 5, 20 and 200 sessions in a dark and a light
 * panel, and sessions of several agents, for people to look at. `agents`: only the latter.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClock } from "../../src/system/clock.ts";
import { binary, repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { type Area, startDesktop, type VirtualDesktop } from "./desktop-harness.ts";
import { findBlockedIcon } from "./tray-app.ts";

const minute = 60_000;
const settleMs = 700;

interface PictureSession {
  /** Absent: claude. */
  readonly agent?: string;
  readonly project: string;
  /** Part of the session's id, for a project with several sessions. */
  readonly number?: number;
  readonly title?: string;
  readonly branch?: string;
  /** Minutes since its prompt, and since the last thing that happened. */
  readonly prompted: number;
  readonly last: number;
  readonly prompt?: string;
  /** What it did last. Nothing: it thinks. */
  readonly event?: Record<string, unknown>;
}

const bash = (hook_event_name: string, command: string) => ({
  hook_event_name,
  tool_name: "Bash",
  tool_use_id: command,
  tool_input: { command },
});
const asks = (command: string) => bash("PermissionRequest", command);
const runs = (command: string) => bash("PreToolUse", command);
const createStop = (last_assistant_message: string) => ({ hook_event_name: "Stop", last_assistant_message });
const failedWith = (error: string) => ({ hook_event_name: "StopFailure", error });
const question = {
  hook_event_name: "PermissionRequest",
  tool_name: "AskUserQuestion",
  tool_input: {
    questions: [
      {
        question: "Which database should the new service use?",
        options: [{ label: "SQLite" }, { label: "Postgres" }],
      },
    ],
  },
};

const one: readonly PictureSession[] = [
  { project: "checkout-api", prompted: 7, last: 4, event: asks("npm run migrate -- --env staging") },
];
const five: readonly PictureSession[] = [
  ...one,
  { project: "notes", prompted: 5, last: 1, event: question },
  { project: "docs", prompted: 9, last: 9 },
  { project: "infra", prompted: 3, last: 2, event: runs("terraform plan") },
  { project: "landing-page", prompted: 20, last: 6, event: createStop("Both headers are merged.") },
];
const twenty: readonly PictureSession[] = [
  { project: "checkout-api", prompted: 40, last: 25, event: asks("git push --force origin main") },
  { project: "notes", prompted: 15, last: 12, event: question },
  {
    project: "customer-portal-frontend-next-generation",
    prompted: 9,
    last: 6,
    event: asks(
      'for f in migrations/*.sql; do psql "$DATABASE_URL" --single-transaction --set ON_ERROR_STOP=1 --file "$f" >> migrations.log 2>&1; done',
    ),
  },
  { project: "infra", prompted: 4, last: 1, event: asks("terraform apply -auto-approve") },
  { project: "billing", prompted: 30, last: 11, event: failedWith("rate_limit") },
  {
    project: "search",
    number: 1,
    prompted: 61,
    last: 60,
    prompt: "Move the index to the new cluster",
    event: runs("make index"),
  },
  {
    project: "search",
    number: 2,
    prompted: 22,
    last: 20,
    prompt: "Why is ranking slow?",
    event: runs("rg --json score"),
  },
  { project: "beckon", prompted: 18, last: 1, event: runs("bun test") },
  { project: "docs", prompted: 9, last: 9 },
  { project: "design-system", prompted: 5, last: 1, event: runs("npm run storybook") },
  { project: "ios-app", prompted: 4, last: 1, event: runs("xcodebuild test") },
  { project: "android-app", prompted: 3, last: 1, event: runs("./gradlew check") },
  { project: "data-pipeline", prompted: 2, last: 1, event: runs("dbt run") },
  { project: "landing-page", prompted: 20, last: 3, event: createStop("Both headers are merged.") },
  {
    project: "auth",
    prompted: 50,
    last: 14,
    event: createStop(
      "The session cookie is now SameSite=Strict and rotates after each login; all 214 tests pass.",
    ),
  },
  { project: "emails", prompted: 120, last: 48, event: createStop("Done. I left the footer as it was.") },
  {
    project: "payments",
    prompted: 200,
    last: 90,
    event: createStop("Which of the two webhooks should stay?"),
  },
  { project: "analytics", prompted: 300, last: 130, event: createStop("Added the weekly report.") },
  { project: "website", prompted: 320, last: 170, event: createStop("漢字のページを追加しました。") },
  { project: "cli", prompted: 500, last: 240, event: createStop("Released 2.4.0.") },
];
/** Eight that need you, for one alert that counts five of them. */
const waiting: readonly PictureSession[] = [
  { project: "search", prompted: 30, last: 21, event: asks("make index") },
  { project: "landing-page", prompted: 20, last: 16, event: asks("npm install sharp") },
  { project: "auth", prompted: 18, last: 13, event: asks("git push origin main") },
  ...twenty.slice(0, 4).map((session, n) => ({ ...session, last: 9 - 2 * n, prompted: 12 - 2 * n })),
  { project: "emails", prompted: 3, last: 1, event: asks("bin/preview --open") },
];
/** Sessions of several agents, for a picture of how each is named. */
const mixed: readonly PictureSession[] = [
  { project: "checkout-api", prompted: 7, last: 4, event: asks("npm run migrate -- --env staging") },
  {
    agent: "copilot",
    project: "search",
    prompted: 6,
    last: 3,
    event: {
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      message: "Run command: make index",
    },
  },
  {
    agent: "gemini",
    project: "docs",
    prompted: 4,
    last: 2,
    event: {
      hook_event_name: "Notification",
      notification_type: "ToolPermission",
      details: { type: "edit", title: "Confirm Edit: guide.md", filePath: "/home/ann/docs/guide.md" },
    },
  },
  { agent: "codex", project: "infra", prompted: 3, last: 2, event: runs("terraform plan") },
  { agent: "gemini", project: "analytics", prompted: 9, last: 8 },
  {
    agent: "codex",
    project: "landing-page",
    prompted: 20,
    last: 6,
    event: createStop("Both headers are merged."),
  },
];
const many: readonly PictureSession[] = Array.from({ length: 200 }, (_, n): PictureSession => {
  const project = `service-${String(n).padStart(3, "0")}`;
  const last = 1 + (n % 90);
  const times = { prompted: last + 3, last };
  if (n < 14)
    return {
      project,
      ...times,
      event: asks(n % 5 === 0 ? "rm -rf src" : `npm run deploy -- --only ${project}`),
    };
  if (n < 20) return { project, ...times, event: failedWith("overloaded") };
  if (n < 90) return { project, ...times, event: runs("npm test") };
  return { project, ...times, event: createStop(`Fixed the tests of ${project}.`) };
});

type Running = Awaited<ReturnType<typeof start>>;

async function start(theme: "dark" | "light", settings: object) {
  const desktop = await startDesktop({ panel: true, notifications: true, theme });
  const state = join(desktop.home, "state");
  const claude = join(desktop.home, "claude");
  const env = { BECKON_HOME: state, CLAUDE_CONFIG_DIR: claude };
  mkdirSync(claude, { recursive: true });
  mkdirSync(state, { recursive: true, mode: 0o700 });
  await Bun.write(join(claude, "settings.json"), '{"hooks":"beckon hook claude"}');
  await Bun.write(join(state, "config.json"), JSON.stringify(settings));
  desktop.spawn([binary], env);
  await waitUntil(() => existsSync(join(state, "endpoint.json")), 10_000);
  const readState = (name: string) => readFileSync(join(state, name), "utf8").trim();
  let count = 0;

  /** `path`: /api/hook for an event, /api/hold for a request that waits for an answer. */
  async function send(
    session: PictureSession,
    minutesAgo: number,
    event: object,
    path = "/api/hook",
  ): Promise<void> {
    const { at, host } = createClock()();
    const _meta = {
      id: path === "/api/hold" ? `e${count}` : `e${++count}`,
      attended: true,
      at: at - minutesAgo * minute,
      workspace_id: session.project,
      host,
      pid: process.pid,
    };
    const { project, number = 1, agent = "claude" } = session;
    const id = Bun.hash(`${project} ${number}`).toString(16).padStart(16, "0");
    const payload = {
      session_id: `${id.slice(0, 8)}-${id.slice(8, 12)}-4000-8000-000000000001`,
      cwd: `/home/ann/${project}`,
      ...event,
    };
    const response = await fetch(JSON.parse(readState("endpoint.json")).url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: readState("auth-header").replace("Authorization: ", ""),
      },
      body: JSON.stringify({ provider: agent, _meta, payload }),
    });
    await response.text();
  }

  return {
    desktop,
    env,
    async addSessions(sessions: readonly PictureSession[]): Promise<void> {
      for (const session of sessions) {
        const { prompt = "Move the orders to the new schema", event } = session;
        const hook_event_name = session.agent === "gemini" ? "BeforeAgent" : "UserPromptSubmit";
        await send(session, session.prompted, { hook_event_name, prompt });
        if (!event) continue;
        if (event.hook_event_name !== "PermissionRequest") await send(session, session.last, event);
        else {
          await send(session, session.last, { ...event, hook_event_name: "PreToolUse" });
          await send(session, session.last, event);
          // The hook waits until the picture is taken.
          send(session, session.last, event, "/api/hold").catch(() => {});
          await Bun.sleep(50);
        }
      }
      await Bun.sleep(2 * settleMs);
    },
  };
}

async function openMenu(desktop: VirtualDesktop, ...keys: string[]): Promise<void> {
  const icon = await findBlockedIcon(desktop);
  if (!icon) throw new Error("no icon in the panel");
  await desktop.click(icon.x, icon.y, 1);
  await Bun.sleep(settleMs);
  // Away from the menu, which would follow the mouse.
  await desktop.move(5, 790);
  for (const key of keys) await desktop.key(key);
  await Bun.sleep(settleMs);
}

async function save(desktop: VirtualDesktop, path: string, area?: Area): Promise<void> {
  copyFileSync(await desktop.screenshot("picture", area), path);
}

const withoutAlerts = { alerts: { blocked: false, failed: false, idle: false, longTurnMinutes: 0 } };

async function withDesktop(
  theme: "dark" | "light",
  settings: object,
  sessions: readonly PictureSession[],
  take: (running: Running) => Promise<void>,
): Promise<void> {
  const running = await start(theme, settings);
  try {
    await running.addSessions(sessions);
    await take(running);
  } finally {
    await running.desktop.stop();
  }
}

async function takeReadmePictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await withDesktop("dark", {}, five, async ({ desktop }) => {
    await save(desktop, join(folder, "alert.png"), { x: 780, y: 0, width: 500, height: 350 });
  });
  await withDesktop("dark", withoutAlerts, five, async ({ desktop }) => {
    await openMenu(desktop, "Down", "Right", "Down", "Down");
    await save(desktop, join(folder, "menu.png"), { x: 290, y: 0, width: 990, height: 420 });
  });
  await withDesktop("dark", {}, waiting, async ({ desktop }) => {
    await save(desktop, join(folder, "grouped.png"), { x: 820, y: 0, width: 460, height: 720 });
  });
  await withDesktop("dark", withoutAlerts, twenty, async (running) => {
    await showInTerminal(running, "104x30+20+60", [binary, "status", "--watch"]);
    await save(running.desktop, join(folder, "watch.png"), { x: 12, y: 40, width: 960, height: 622 });
  });
}

const terminal = ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "11", "-bg", "#1d1f21", "-fg", "#d5d8d6"];

async function showInTerminal(
  { desktop, env }: Running,
  geometry: string,
  command: readonly string[],
): Promise<void> {
  desktop.spawn([...terminal, "-geometry", geometry, "-e", ...command], env);
  await waitUntil(async () => (await desktop.windows("--class", "xterm")).length > 0, 10_000);
  await Bun.sleep(3 * settleMs);
}

/** How the agents of several sessions are named in an alert, in the menu and in `status`. */
async function takeAgents(folder: string): Promise<void> {
  await withDesktop("dark", {}, mixed, async ({ desktop }) => {
    await save(desktop, join(folder, "agents-alert.png"));
  });
  await withDesktop("dark", withoutAlerts, mixed, async (running) => {
    await openMenu(running.desktop, "Down", "Down", "Right");
    await save(running.desktop, join(folder, "agents-menu.png"));
    await running.desktop.key("Escape", "Escape");
    await showInTerminal(running, "120x14+20+500", ["sh", "-c", `${binary} status; exec cat`]);
    await save(running.desktop, join(folder, "agents-status.png"));
  });
}

/** No server listens there. */
const failingChannels = {
  phone: {
    type: "ntfy",
    server: "http://127.0.0.1:9",
    topic: "alerts",
    replyTopic: "answers",
    detail: "full",
    answers: "safe",
  },
};

async function takeMenus(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const theme of ["dark", "light"] as const) {
    const settings = { ...withoutAlerts, channels: failingChannels };
    await withDesktop(theme, settings, five, async ({ desktop }) => {
      // The second attempt to connect fails by then.
      await Bun.sleep(3_000);
      await openMenu(desktop);
      await save(desktop, join(folder, `menu-failing-channel-${theme}.png`));
    });
  }
  for (const theme of ["dark", "light"] as const) {
    for (const [name, sessions] of Object.entries({ 1: one, 5: five, 20: twenty, 200: many })) {
      await withDesktop(theme, withoutAlerts, sessions, async ({ desktop }) => {
        await openMenu(desktop);
        await save(desktop, join(folder, `menu-${name}-${theme}.png`));
        await desktop.key("Down", "Right");
        await Bun.sleep(settleMs);
        await save(desktop, join(folder, `menu-${name}-${theme}-session.png`));
      });
    }
  }
}

const [folder, only] = process.argv.slice(2);
if (only !== "agents") await takeReadmePictures(folder ?? join(repo, "assets/readme"));
if (folder && only !== "agents") await takeMenus(folder);
if (folder) await takeAgents(folder);
process.exit(0);
