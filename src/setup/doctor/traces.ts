/** Checks what was left behind: events in the spool, and errors in the logs. */

import { createFindings, type Finding } from "../../agents/finding.ts";
import { limits } from "../../core/limits.ts";
import { isProbeLine } from "../../core/session/probe.ts";
import { truncate } from "../../core/text/truncate.ts";
import { formatCount } from "../../core/text/words.ts";
import { dayMs } from "../../core/timing.ts";
import { formatSpokenDuration } from "../../core/view/figures.ts";
import { readOr, readOwnFile } from "../../storage/files.ts";
import { describeDroppedEvents, readDroppedEvents } from "../../storage/full-spool.ts";
import { type HookError, readOpenHookErrors } from "../../storage/hook-log.ts";
import type { Paths } from "../../storage/paths.ts";

export interface TracesFacts {
  /** Lines in the spool, without those of doctor. */
  readonly waiting: number;
  /** What a full spool has dropped, as a sentence; null if nothing. */
  readonly dropped: string | null;
  readonly isUp: boolean;
  readonly hookErrors: readonly HookError[];
  readonly logErrors: readonly { readonly at: number; readonly text: string }[];
  readonly hookLog: string;
  readonly log: string;
  readonly now: number;
}

const finding = createFindings("app", "app");
const maxLogBytes = 2 * 1024 * 1024;
const maxText = 160;

export function checkTraces(facts: TracesFacts): Finding[] {
  const { waiting, dropped, isUp, hookErrors, logErrors, hookLog, log, now } = facts;
  const lastHook = hookErrors.at(-1);
  const lastLog = logErrors.at(-1);
  return [
    ...(waiting > 0
      ? [
          isUp
            ? finding(
                "warn",
                "spool",
                `${waits(waiting)} in the spool, although beckon is running`,
                `See ${log}`,
              )
            : finding("info", "spool", `${waits(waiting)} for beckon to start`),
        ]
      : []),
    ...(dropped === null ? [] : [finding("warn", "spool-full", dropped, "Start it: beckon start")]),
    ...(lastHook
      ? [
          finding(
            "warn",
            "hook-errors",
            `${formatCount(hookErrors.length, "hook error")} in the last 24 h, the latest ${formatSpokenDuration(now - lastHook.at)} ago: ${truncate(lastHook.text, maxText)}`,
            `All of them: ${hookLog}`,
          ),
        ]
      : []),
    ...(lastLog
      ? [
          finding(
            "warn",
            "errors",
            `${formatCount(logErrors.length, "error")} in beckon's log in the last 24 h, the latest ${formatSpokenDuration(now - lastLog.at)} ago: ${truncate(lastLog.text, maxText)}`,
            `All of them: ${log}`,
          ),
        ]
      : []),
  ];
}

const waits = (count: number): string => formatCount(count, "event waits", "events wait");

export function readTraces(paths: Paths, isUp: boolean, now: number): TracesFacts {
  const dropped = readDroppedEvents(paths);
  const waiting = read(paths.spool, limits.maxSpoolBytes * 3)
    .split("\n")
    .filter((line) => line.trim() !== "" && !isProbeLine(line));
  const logErrors = read(paths.log, maxLogBytes)
    .split("\n")
    .flatMap((line) => {
      const [, when = "", text = ""] = /^(\S+) error (.*)$/.exec(line) ?? [];
      const at = Date.parse(when);
      return now - at < dayMs ? [{ at, text }] : [];
    });
  return {
    waiting: waiting.length,
    dropped: dropped && describeDroppedEvents(dropped),
    isUp,
    hookErrors: readOpenHookErrors(paths, now),
    logErrors,
    hookLog: paths.hookLog,
    log: paths.log,
    now,
  };
}

const read = (path: string, maxBytes: number): string => readOr(() => readOwnFile(path, maxBytes), "");
