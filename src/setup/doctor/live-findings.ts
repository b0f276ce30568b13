/** What the test event showed. */

import { about, type Finding } from "../../agents/finding.ts";
import type { NotifierReport } from "../../core/ports.ts";
import type { Live, LiveApp } from "./live.ts";
import type { HookRun } from "./run-hook.ts";

export interface LiveFacts {
  /** The settings file whose command was run; null: none there could be run, so beckon was called directly. */
  readonly path: string | null;
  /** Where it was not the registered command: why. */
  readonly why: string | null;
  readonly outcome:
    | {
        readonly kind: "up";
        readonly live: Live;
        readonly shows: LiveApp["shows"];
        readonly notifier: NotifierReport | null;
      }
    /** The app is down or silent: the event must be in the spool. */
    | { readonly kind: "down"; readonly asked: HookRun; readonly isKept: boolean };
}

const tell = about("live event", "live");
/** People feel more than that; a first run from a cold disk takes a tenth of a second. */
const slowMs = 500;

export function liveFindings({ path, why, outcome }: LiveFacts): Finding[] {
  const way = path === null ? `beckon hook called directly, as ${why}` : `the command in ${path}`;
  const asked = outcome.kind === "up" ? outcome.live.asked : outcome.asked;
  const silent =
    path === null ? runFindings(asked, "beckon hook", false) : runFindings(asked, "the hook", true);
  if (outcome.kind === "down") {
    return [
      ...silent,
      outcome.isKept
        ? tell(
            "ok",
            "kept",
            `nothing is lost meanwhile: the test event is in the spool after ${ms(asked.ms)} (${way})`,
          )
        : tell("fail", "lost", "the test event is neither with beckon nor in the spool", logHint),
    ];
  }
  const { live } = outcome;
  if (live.heardMs === null) {
    const fix = "Is the folder the same? See above: hooks, files. Run: beckon --install";
    return [...silent, tell("fail", "unheard", "beckon did not hear of the test event", fix)];
  }
  const slow = asked.code === 0 && live.heardMs > slowMs;
  return [
    ...silent,
    slow
      ? tell("warn", "slow", `heard after ${ms(live.heardMs)}`, "The machine may be busy: run doctor again")
      : tell("ok", "heard", `from hook to state in ${ms(live.heardMs)} (${way})`),
    ...shown(outcome),
    ...over(live),
  ];
}

const logHint = "See what the hook says: beckon status";
const ms = (value: number): string => `${Math.max(1, Math.round(value))} ms`;

/** Anything but 0 and silence is an error line in the person's terminal, or text in the model's context. */
function runFindings(run: HookRun, name: string, isRegistered: boolean): Finding[] {
  const findings: Finding[] = [];
  const fix = isRegistered ? "Run: beckon --install" : logHint;
  if (run.code === null) {
    const text = `${name} did not end by itself within ${Math.round(run.ms / 100) / 10} s: the agent would wait for it`;
    findings.push(tell("fail", "hangs", text, fix));
  } else if (run.code !== 0) {
    findings.push(tell("fail", "exit", `${name} ended with ${run.code}${words(run.stderr)}`, fix));
  }
  if (run.stdout !== "" && run.stdout !== "{}") {
    findings.push(
      tell("fail", "stdout", `${name} printed${words(run.stdout)}: the agent would read that`, fix),
    );
  }
  return findings;
}

const words = (text: string): string => (text === "" ? "" : `: ${text.slice(0, 200)}`);

function shown({ live, shows, notifier }: Extract<LiveFacts["outcome"], { kind: "up" }>): Finding[] {
  const { probe, countedMs, alertMs } = live;
  const findings: Finding[] = [];
  if (shows.icon) {
    findings.push(
      countedMs === null
        ? tell(
            "fail",
            "uncounted",
            "the icon's menu did not show the test",
            "See beckon's log, or restart it: beckon stop, then beckon start",
          )
        : tell("ok", "counted", `counted by the icon after ${ms(countedMs)}`),
    );
  }
  if (!shows.alerts) return findings;
  const isNamed = notifier?.namesAlerts === true;
  const handle = probe?.alert?.handle ?? null;
  if (probe?.held != null) {
    findings.push(tell("warn", "held", `its alert was not shown: ${probe.held}`, "See notifications below"));
  } else if (!probe?.alert || alertMs === null || (isNamed && handle === null)) {
    findings.push(
      tell("fail", "no-alert", "no alert came on the screen", "See notifications below, and beckon's log"),
    );
  } else {
    const as = handle === null ? "" : ` (number ${handle.split(" ").at(-1)})`;
    findings.push(tell("ok", "alert", `alert taken by the desktop${as} after ${ms(alertMs)}`));
  }
  return findings;
}

function over({ isGone, ended }: Live): Finding[] {
  if (isGone === null) return [];
  if (!isGone) {
    return [
      tell(
        "fail",
        "stays",
        "the test did not go away after its end",
        "Restart beckon: beckon stop, then beckon start",
      ),
    ];
  }
  return [
    tell("ok", "gone", "alert and session taken back"),
    ...(ended ? runFindings(ended, "the hook, at the end,", true) : []),
  ];
}
