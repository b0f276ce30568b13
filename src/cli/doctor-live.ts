/** Which command doctor runs for its test event, and where it looks for what came of it. */
import { statSync } from "node:fs";
import { limits } from "../core/limits.ts";
import { createProbeId } from "../core/session/probe.ts";
import { readHookCommand } from "../settings-file/hook-command.ts";
import type { SettingsFacts } from "../setup/doctor/hooks.ts";
import { askEvent, hookEnv, tryLive } from "../setup/doctor/live.ts";
import type { LiveFacts } from "../setup/doctor/live-findings.ts";
import type { AppReport, ProbeReport } from "../setup/doctor/report.ts";
import { type HookCall, runHook } from "../setup/doctor/run-hook.ts";
import { canRun, isThisOne } from "../setup/doctor/settings-files.ts";
import type { InstallRecord } from "../setup/record.ts";
import { readSmallFile } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import { removeLastSpoolLine } from "../storage/spool.ts";
import { readEndpoint } from "../system/endpoint.ts";
import type { Env } from "../system/home.ts";
import { isCompiled } from "../system/launch.ts";
import { liveApp } from "./doctor-app.ts";

export interface LiveGiven {
  readonly env: Env;
  readonly places: Paths;
  /** beckon's own plugin, where it is switched on. */
  readonly plugin: string | null;
  readonly settings: readonly SettingsFacts[];
  readonly installed: InstallRecord | null;
  /** null: the app is down, or does not answer. */
  readonly report: AppReport | null;
}

interface Choice extends Pick<LiveFacts, "path" | "why"> {
  readonly run: HookCall["run"];
}

const hookMs = 4_000;

export async function tryHook(
  given: LiveGiven,
): Promise<{ readonly facts: LiveFacts; readonly probe: ProbeReport | null }> {
  const { env, places, report } = given;
  const { run, path, why } = choose(given);
  const session = createProbeId(crypto.randomUUID());
  const hook = { run, env: hookEnv(env, session, process.pid) };
  if (report === null) {
    const before = spoolLength(places);
    const asked = await runHook(hook, askEvent(session), hookMs);
    const outcome = { kind: "down" as const, asked, isKept: isSpooled(places, session) };
    if (outcome.isKept && readEndpoint(places) === null) removeLastSpoolLine(places.spool, before, session);
    return { facts: { path, why, outcome }, probe: null };
  }
  const app = liveApp(places, report);
  const live = await tryLive(hook, session, app);
  const outcome = { kind: "up" as const, live, shows: app.shows, notifier: report.notifier };
  return { facts: { path, why, outcome }, probe: live.probe };
}

/** What the agent would run, if it is the person's own. A project's settings can name any program. */
function choose({ settings, installed, plugin }: LiveGiven): Choice {
  const direct = (why: string): Choice => ({ run: [...ownProgram(), "hook", "claude"], path: null, why });
  const registered = settings.flatMap(({ scope, path, own }) =>
    own
      .filter(({ event }) => event === "PermissionRequest" || event === "SessionStart")
      .map(({ command }) => ({ scope, path, command, parts: readHookCommand(command) })),
  );
  if (registered.length === 0) {
    return direct(
      plugin === null ? "no hook is registered" : "only Claude Code itself runs the hooks of a plugin",
    );
  }
  const trusted = registered.find(({ scope, parts }) => {
    const isOwn = scope === "user" || scope === "managed";
    return parts !== null && (isOwn || isThisOne(parts.binary, ...(installed ? [installed.binary] : [])));
  });
  if (!trusted) return direct("the registered command is another program than this one, and was not run");
  if (!canRun(trusted.parts?.binary ?? "")) return direct("the registered command cannot run");
  // How Windows runs it depends on the shells that are there: the program itself is what matters.
  const { binary = "", agent = "", home = null } = trusted.parts ?? {};
  if (process.platform === "win32" && home === null)
    return { ...trusted, run: [binary, "hook", agent], why: null };
  return { run: trusted.command, path: trusted.path, why: null };
}

/** The binary itself; from source, Bun with the file it was started with. */
function ownProgram(): string[] {
  return isCompiled() ? [process.execPath] : [process.execPath, Bun.main];
}

const spoolLength = ({ spool }: Paths): number => statSync(spool, { throwIfNoEntry: false })?.size ?? 0;

function isSpooled({ spool }: Paths, session: string): boolean {
  try {
    return readSmallFile(spool, limits.maxSpoolBytes * 2).includes(session);
  } catch {
    return false;
  }
}
