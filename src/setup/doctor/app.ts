/** The running app: there, of this version, quick, and reachable where the hooks look for it. */
import { createFindings, type Finding, formatList } from "../../agents/finding.ts";
import type { AppReport } from "./report.ts";

export type HealthAnswer =
  /** Nothing runs: endpoint.json is not there, or of a process that is gone. */
  | { readonly kind: "down" }
  /** A process that has the folder, and does not say where it listens. */
  | { readonly kind: "silent"; readonly pid: number; readonly why: string }
  | { readonly kind: "refused"; readonly status: number; readonly pid: number }
  | { readonly kind: "up"; readonly pid: number; readonly ms: number; readonly report: AppReport | null };

export interface AppFacts {
  readonly answer: HealthAnswer;
  readonly url: string | null;
  /** The port that this environment asks for. */
  readonly wantedPort: number;
  /** This beckon's. */
  readonly version: string;
  /** The person quit it on purpose. */
  readonly isOff: boolean;
  /** false: what is to be done first is an install, which starts it too. */
  readonly isInstalled: boolean;
  /** This terminal's variables that name a desktop. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: string;
}

const finding = createFindings("app", "app");
const slowMs = 500;

export function appFindings(facts: AppFacts): Finding[] {
  const { BECKON_URL: url } = facts.env;
  const to = url
    ? [finding("warn", "url", `BECKON_URL sends this terminal's hooks to ${url}`, "Unset it")]
    : [];
  return [...answerFindings(facts), ...to];
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
              "not running: you quit it, and it stays off until you start it",
              "Run: beckon start",
            )
          : isInstalled
            ? finding(
                "fail",
                "down",
                "not running: events wait in the spool until it starts",
                "Run: beckon start",
              )
            : finding("fail", "down", "not running: beckon --install starts it too"),
      ];
    case "silent":
      return [
        finding(
          "fail",
          "silent",
          `pid ${answer.pid} runs but does not answer: ${answer.why}`,
          `End it with kill ${answer.pid} (if that does not help: kill -9 ${answer.pid}), then run: beckon. Its log: ${log}`,
        ),
      ];
    case "refused":
      return [
        finding("fail", "refused", `pid ${answer.pid} refuses our token (${answer.status}): see files`, null),
      ];
    case "up":
      return [running(answer, facts), ...(answer.report ? reported(answer.report, facts) : [tooOld(facts)])];
  }
}

function running({ pid, ms }: Extract<HealthAnswer, { kind: "up" }>, { url }: AppFacts): Finding {
  const text = `running (pid ${pid}) at ${url}, answers in ${Math.max(1, Math.round(ms))} ms`;
  return ms < slowMs
    ? finding("ok", "running", text)
    : finding("warn", "slow", text, "The machine may be busy. If it stays so, restart beckon");
}

function tooOld({ version }: AppFacts): Finding {
  return finding(
    "warn",
    "other-version",
    `the running beckon is of another version than this one (${version}) and cannot be asked more`,
    "Restart it: beckon stop, then beckon start",
  );
}

function reported(report: AppReport, facts: AppFacts): Finding[] {
  const { version, url, wantedPort } = facts;
  const port = Number(url ? new URL(url).port : 0);
  return [
    report.version === version
      ? finding("ok", "version", `version ${version}, the same as this one`)
      : finding(
          "warn",
          "other-version",
          `version ${report.version} runs, this one is ${version}`,
          "Restart it: beckon stop, then beckon start",
        ),
    ...(port === wantedPort
      ? []
      : [
          finding(
            "info",
            "port",
            `on port ${port}: ${wantedPort} was taken when it started, or it was started with another BECKON_PORT. The hooks find it all the same`,
          ),
        ]),
    ...elsewhere(report, facts),
  ];
}

/** An app that was started over SSH or by a service cannot see the desktop that its person sits at. */
function elsewhere({ env, isHeadless }: AppReport, facts: AppFacts): Finding[] {
  const names = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] as const;
  const lacks = names.filter((name) => facts.env[name] && !env[name]);
  const others = names.filter((name) => facts.env[name] && env[name] && facts.env[name] !== env[name]);
  if (lacks.length === 0 && others.length === 0) return [];
  const how = env.SSH_CONNECTION ? " over SSH" : "";
  const what =
    lacks.length > 0
      ? `without ${formatList(lacks)}, which this terminal has`
      : `with another ${formatList(others)} than this terminal's`;
  return [
    finding(
      isHeadless ? "fail" : "warn",
      "elsewhere",
      `it was started${how} ${what}: icon and alerts are ${isHeadless ? "nowhere" : "perhaps elsewhere"}`,
      "Start it from your desktop: beckon stop, then beckon start",
    ),
  ];
}
