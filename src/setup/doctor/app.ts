/** Checks the running app: whether it answers, its version, its speed, and where it was started. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { formatList } from "../../core/text/words.ts";
import type { AppReport } from "./report.ts";

export type HealthAnswer =
  /** Not running: there is no endpoint.json, or its process is gone. */
  | { readonly kind: "down" }
  /** Its process runs, but does not answer. */
  | { readonly kind: "silent"; readonly pid: number; readonly why: string }
  | { readonly kind: "refused"; readonly status: number; readonly pid: number }
  | { readonly kind: "up"; readonly pid: number; readonly ms: number; readonly report: AppReport | null };

export interface AppFacts {
  readonly answer: HealthAnswer;
  readonly url: string | null;
  /** The port that this environment asks for. */
  readonly wantedPort: number;
  /** The version of this command. */
  readonly version: string;
  /** The user quit it on purpose. */
  readonly isOff: boolean;
  /** False: the user must install first, which also starts the app. */
  readonly isInstalled: boolean;
  /** This terminal's variables that name a desktop. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: string;
}

const finding = createFindings("app", "app");
const slowMs = 500;

export function checkApp(facts: AppFacts): Finding[] {
  const { BECKON_URL: url } = facts.env;
  const redirected = url
    ? [finding("warn", "url", `BECKON_URL sends the hooks of this terminal to ${url}`, "Unset BECKON_URL")]
    : [];
  return [...answerFindings(facts), ...redirected];
}

function answerFindings(facts: AppFacts): Finding[] {
  const { answer, isOff, isInstalled, log } = facts;
  switch (answer.kind) {
    case "down":
      return [
        isOff
          ? finding(
              "fail",
              "off",
              "not running: you quit it, so it stays off until you start it",
              "Run: beckon start",
            )
          : isInstalled
            ? finding("fail", "down", "not running: events are kept until it starts", "Run: beckon start")
            : finding("fail", "down", "not running: beckon --install also starts it"),
      ];
    case "silent":
      return [
        finding(
          "fail",
          "silent",
          `running (pid ${answer.pid}), but does not answer: ${answer.why}`,
          `Run: kill ${answer.pid} (or kill -9 ${answer.pid}), then: beckon start. Its log: ${log}`,
        ),
      ];
    case "refused":
      return [
        finding(
          "fail",
          "refused",
          `running (pid ${answer.pid}), but refuses the token (${answer.status}): see files`,
          null,
        ),
      ];
    case "up":
      return [
        reportRunning(answer, facts),
        ...(answer.report ? checkReport(answer.report, facts) : [reportOtherVersion(facts)]),
      ];
  }
}

function reportRunning({ pid, ms }: Extract<HealthAnswer, { kind: "up" }>, { url }: AppFacts): Finding {
  const text = `running (pid ${pid}) at ${url}, answers in ${Math.max(1, Math.round(ms))} ms`;
  return ms < slowMs
    ? finding("ok", "running", text)
    : finding("warn", "slow", text, "The machine may be busy. If it stays slow, restart beckon");
}

function reportOtherVersion({ version }: AppFacts): Finding {
  return finding(
    "warn",
    "other-version",
    `the running beckon has another version than this command (${version}), so the rest cannot be checked`,
    "Restart it: beckon restart",
  );
}

function checkReport(report: AppReport, facts: AppFacts): Finding[] {
  const { version, url, wantedPort } = facts;
  const port = Number(url ? new URL(url).port : 0);
  return [
    report.version === version
      ? finding("ok", "version", `version ${version}, the same as this command`)
      : finding(
          "warn",
          "other-version",
          `version ${report.version} is running, but this command is ${version}`,
          "Restart it: beckon restart",
        ),
    ...(port === wantedPort
      ? []
      : [
          finding(
            "info",
            "port",
            `uses port ${port}, because ${wantedPort} was in use or it was started with another BECKON_PORT. The hooks still find it`,
          ),
        ]),
    ...findOtherDesktop(report, facts),
  ];
}

/** An app that was started over SSH or by a service does not reach the user's desktop. */
function findOtherDesktop({ env, isHeadless }: AppReport, facts: AppFacts): Finding[] {
  const names = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] as const;
  const lacks = names.filter((name) => facts.env[name] && !env[name]);
  const others = names.filter((name) => facts.env[name] && env[name] && facts.env[name] !== env[name]);
  if (lacks.length === 0 && others.length === 0) return [];
  const how = env.SSH_CONNECTION ? " over SSH" : "";
  const what =
    lacks.length > 0
      ? `without ${formatList(lacks)}, which this terminal has`
      : `with another ${formatList(others)} than this terminal has`;
  return [
    finding(
      isHeadless ? "fail" : "warn",
      "elsewhere",
      `it was started${how} ${what}: ${isHeadless ? "it shows no icon and no alerts" : "icon and alerts may be on another desktop"}`,
      "Start it from your desktop: beckon restart",
    ),
  ];
}
