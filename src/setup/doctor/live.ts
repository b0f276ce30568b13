/** A test event through the real hook: to the state, the icon and the notification, and away again. */
import type { ProbeReport } from "./report.ts";
import { type HookCall, type HookRun, runHook } from "./run-hook.ts";

/** What of the running app can be asked. null: no answer. */
export interface LiveApp {
  /** Does the state have the session's ask? */
  hasAsk(session: string): Promise<boolean>;
  /** null: the app knows nothing of the test. */
  probe(session: string, withReach: boolean): Promise<ProbeReport | null>;
  /** Can alerts or an icon be expected at all? */
  readonly shows: { readonly icon: boolean; readonly alerts: boolean };
}

export interface Live {
  readonly asked: HookRun;
  /** null: nothing to end, since nothing arrived. */
  readonly ended: HookRun | null;
  /** Milliseconds after the hook was started; null: not within the limit. */
  readonly heardMs: number | null;
  readonly countedMs: number | null;
  readonly alertMs: number | null;
  readonly probe: ProbeReport | null;
  /** All of it was taken back; null: there was nothing. */
  readonly isGone: boolean | null;
}

const hearMs = 2_500;
const showMs = 2_500;
const goneMs = 2_000;
/** Long enough that whoever looks for the alert sees it. */
const seeMs = 1_200;
/** Where the line is held, it holds a permission request until that is over. */
const hookMs = 9_000;
const lastMs = 1_500;
const endMs = 3_000;
const lookMs = 40;

export async function tryLive(hook: HookCall, session: string, app: LiveApp): Promise<Live> {
  const started = performance.now();
  const took = () => performance.now() - started;
  const stop = new AbortController();
  const asking = runHook(hook, askEvent(session), hookMs, stop);
  const isHeard = await until(() => app.hasAsk(session), hearMs);
  const heardMs = isHeard ? took() : null;
  let countedMs: number | null = null;
  let alertMs: number | null = null;
  let probe: ProbeReport | null = null;
  if (isHeard) {
    await until(async () => {
      probe = (await app.probe(session, false)) ?? probe;
      if (probe?.isCounted) countedMs ??= took();
      if (probe?.alert || probe?.held) alertMs ??= took();
      const isAll = (countedMs !== null || !app.shows.icon) && (alertMs !== null || !app.shows.alerts);
      return isAll;
    }, showMs);
    const seen = Bun.sleep(alertMs === null ? 0 : seeMs);
    probe = (await app.probe(session, true)) ?? probe;
    await seen;
  }
  const ended = isHeard ? await runHook(hook, endEvent(session), endMs) : null;
  const isGone = isHeard
    ? await until(
        async () => !(await app.hasAsk(session)) && (await app.probe(session, false)) === null,
        goneMs,
      )
    : null;
  const timer = setTimeout(() => stop.abort(), lastMs);
  const asked = await asking;
  clearTimeout(timer);
  return { asked, ended, heardMs, countedMs, alertMs, probe, isGone };
}

const words = "beckon doctor: a test, it goes away by itself";

export function askEvent(session: string): object {
  return {
    session_id: session,
    hook_event_name: "PermissionRequest",
    cwd: "/",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input: { command: `# ${words}`, description: words },
  };
}

function endEvent(session: string): object {
  return { session_id: session, hook_event_name: "SessionEnd", cwd: "/", reason: "other" };
}

/** As the CLI's, with doctor in its place: when doctor is gone, so is the session. */
export function hookEnv(env: HookCall["env"], session: string, pid: number): HookCall["env"] {
  return {
    ...env,
    CLAUDE_PID: String(pid),
    CLAUDE_CODE_SESSION_ID: session,
    CLAUDE_CODE_ENTRYPOINT: "cli",
    CLAUDE_CODE_SESSION_ATTENDED: "1",
    // What people see of it is its last part.
    CLAUDE_PROJECT_DIR: "/beckon doctor",
  };
}

async function until(check: () => Promise<boolean>, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await Bun.sleep(lookMs);
  }
}
