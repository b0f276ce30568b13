/** How doctor asks the running app, with a limit on everything. */
import { readFileSync } from "node:fs";
import { createSessionKey } from "../core/session/event.ts";
import type { HealthAnswer } from "../setup/doctor/app.ts";
import type { LiveApp } from "../setup/doctor/live.ts";
import { type AppReport, readReport } from "../setup/doctor/report.ts";
import type { Paths } from "../storage/paths.ts";
import { type Endpoint, readEndpoint } from "../system/endpoint.ts";

const answerMs = 2_000;
/** It looks at panel, notification service and terminal before it answers. */
const reportMs = 4_000;
const comingMs = 1_000;
const lookMs = 100;

interface Told {
  readonly status: number;
  readonly body: unknown;
  readonly ms: number;
}

async function get(paths: Paths, { url }: Endpoint, path: string, limitMs: number): Promise<Told | Error> {
  const started = performance.now();
  try {
    const response = await fetch(url + path, {
      headers: { authorization: tokenOf(paths) },
      signal: AbortSignal.timeout(limitMs),
      redirect: "manual",
      proxy: "",
    } as RequestInit);
    const text = await response.text();
    const body: unknown = text.startsWith("{") ? JSON.parse(text) : null;
    return { status: response.status, body, ms: performance.now() - started };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The app's refusal says more than a file that is not there. */
function tokenOf({ authHeader }: Paths): string {
  try {
    return readFileSync(authHeader, "utf8")
      .trim()
      .replace(/^Authorization: /, "");
  } catch {
    return "";
  }
}

interface Asked {
  readonly answer: HealthAnswer;
  readonly url: string | null;
  /** A session that it knows runs in kitty. */
  readonly usesKitty: boolean;
}

export async function askApp(paths: Paths): Promise<Asked> {
  const endpoint = readEndpoint(paths);
  if (!endpoint) return { answer: { kind: "down" }, url: null, usesKitty: false };
  const { url, pid } = endpoint;
  const told = await get(paths, endpoint, "/api/sessions", answerMs);
  const answered = (answer: HealthAnswer, usesKitty = false): Asked => ({ answer, url, usesKitty });
  if (told instanceof Error) return answered({ kind: "silent", pid, why: whyNot(told, url) });
  if (told.status !== 200) return answered({ kind: "refused", pid, status: told.status });
  const report = await reportOf(paths, endpoint);
  return answered({ kind: "up", pid, ms: told.ms, report }, isInKitty(told.body));
}

function isInKitty(body: unknown): boolean {
  const { sessions } = Object(body) as { sessions?: unknown };
  if (!Array.isArray(sessions)) return false;
  return sessions.some((session) => Boolean(Object(Object(Object(session).place).env).KITTY_WINDOW_ID));
}

/** At a start, panel and notification service come a little later than beckon. */
async function reportOf(paths: Paths, endpoint: Endpoint): Promise<AppReport | null> {
  const end = performance.now() + comingMs;
  for (;;) {
    const told = await get(paths, endpoint, "/api/doctor", reportMs);
    const report = told instanceof Error ? null : readReport(told.body);
    const isThere = report?.tray?.missing === null && report.notifier?.missing === null;
    if (report === null || report.isHeadless || isThere || performance.now() > end) return report;
    await Bun.sleep(lookMs);
  }
}

function whyNot(error: Error, url: string): string {
  const { code } = error as { code?: unknown };
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") return `nobody listens at ${url}`;
  if (error.name === "TimeoutError") return `waited ${answerMs / 1_000} s`;
  return error.message;
}

export function createLiveApp(paths: Paths, report: AppReport, agent: string): LiveApp {
  const endpoint = readEndpoint(paths);
  const ask = async (path: string, limitMs: number): Promise<Told | null> => {
    const told = endpoint ? await get(paths, endpoint, path, limitMs) : null;
    return told instanceof Error ? null : told;
  };
  return {
    shows: {
      icon: report.tray !== null && report.tray.missing === null,
      alerts: report.notifier !== null && report.notifier.missing === null,
    },
    async hasAsk(session) {
      const told = await ask(
        `/api/sessions/${encodeURIComponent(createSessionKey(agent, session))}`,
        answerMs,
      );
      const { asks } = Object(told?.body) as { asks?: unknown };
      return told?.status === 200 && Array.isArray(asks) && asks.length > 0;
    },
    async probe(session, withReach) {
      const told = await ask(withReach ? "/api/doctor?reach" : "/api/doctor", reportMs);
      const now = readReport(told?.body ?? null);
      return now?.probes.find((probe) => probe.session === createSessionKey(agent, session)) ?? null;
    },
  };
}
