/** bun test/desktop/pictures.ts    Takes the README's pictures of the built app on a real desktop. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClock } from "../../src/system/clock.ts";
import { binary, repo } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { startDesktop } from "./desktop-harness.ts";
import { findMiddle, readPixels } from "./pixels.ts";

const folder = join(repo, "assets/readme");
const minute = 60_000;

const desktop = await startDesktop({ panel: true, notifications: true });
const state = join(desktop.home, "state");
const claude = join(desktop.home, "claude");
let count = 0;

/** `path`: /api/hook for an event, /api/hold for a request that waits for an answer. */
async function send(project: string, minutesAgo: number, event: object, path = "/api/hook"): Promise<void> {
  const { at, host } = createClock()();
  const _meta = {
    id: path === "/api/hold" ? `e${count}` : `e${++count}`,
    attended: true,
    at: at - minutesAgo * minute,
    workspace_id: project,
    host,
    pid: process.pid,
  };
  const payload = { session_id: `${project}-1`, cwd: `/home/ann/${project}`, ...event };
  const response = await fetch(
    `${JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8")).url}${path}`,
    {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: readFileSync(join(state, "auth-header"), "utf8").trim().replace("Authorization: ", ""),
      },
      body: JSON.stringify({ provider: "claude", _meta, payload }),
    },
  );
  await response.text();
}
/** A permission hook that waits until the picture is taken. */
async function sendRequest(project: string, minutesAgo: number, event: object): Promise<void> {
  await send(project, minutesAgo, event);
  send(project, minutesAgo, event, "/api/hold").catch(() => {});
  await Bun.sleep(200);
}
const prompt = { hook_event_name: "UserPromptSubmit", prompt: "Move the orders to the new schema" };
const bash = (name: string, command: string) => ({
  hook_event_name: name,
  tool_name: "Bash",
  tool_use_id: command,
  tool_input: { command },
});
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

async function save(
  name: string,
  area: { x: number; y: number; width: number; height: number },
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  copyFileSync(await desktop.screenshot(name, area), join(folder, `${name}.png`));
}

try {
  mkdirSync(claude, { recursive: true });
  await Bun.write(join(claude, "settings.json"), '{"hooks":"beckon hook claude"}');
  desktop.spawn([binary], { BECKON_HOME: state, CLAUDE_CONFIG_DIR: claude });
  await waitUntil(() => existsSync(join(state, "endpoint.json")), 10_000);
  await send("docs", 9, prompt);
  await send("infra", 3, prompt);
  await send("infra", 2, bash("PreToolUse", "terraform plan"));
  await send("landing-page", 20, prompt);
  await send("landing-page", 6, {
    hook_event_name: "Stop",
    last_assistant_message: "Both headers are merged.",
  });
  await send("checkout-api", 7, prompt);
  await send("checkout-api", 4, bash("PreToolUse", "npm run migrate -- --env staging"));
  await sendRequest("checkout-api", 4, bash("PermissionRequest", "npm run migrate -- --env staging"));
  await send("notes", 5, prompt);
  await sendRequest("notes", 1, question);
  const findNotifications = () => desktop.windows("--class", "xfce4-notifyd");
  await waitUntil(async () => (await findNotifications()).length >= 2, 10_000);
  await Bun.sleep(1_000);
  await save("alert", { x: 780, y: 0, width: 500, height: 350 });
  const panel = { x: 1_100, y: 0, width: 180, height: 32 };
  const icon = findMiddle(
    await readPixels(desktop, panel),
    ([red, green, blue]) => red > 180 && green < 120 && blue < 80,
  );
  if (!icon) throw new Error("no icon in the panel");
  await desktop.click(icon.x, icon.y, 3);
  await Bun.sleep(500);
  await desktop.key("Down", "Right", "Down");
  await Bun.sleep(500);
  await save("menu", { x: 290, y: 0, width: 990, height: 400 });
} finally {
  await desktop.stop();
}
process.exit(0);
