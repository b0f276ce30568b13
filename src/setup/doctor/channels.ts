/** Checks the channels: whether their settings are complete, and what the running app reports about them. */
import { createFindings, type Finding } from "../../agents/finding.ts";
import { formatList } from "../../core/text/words.ts";

export interface ChannelFacts {
  readonly name: string;
  /** For users: "Telegram". */
  readonly service: string;
  readonly answers: string;
  /** Anyone who knows its settings can answer. */
  readonly isOpen: boolean;
  /** What is wrong with its settings. */
  readonly mistakes: readonly string[];
  /** Null if the app is not running, or does not use the channel yet. */
  readonly report: { readonly problem: string | null; readonly lastSentAt: number | null } | null;
}

export interface ChannelsFacts {
  readonly channels: readonly ChannelFacts[];
  /** What is wrong with the file of secrets. */
  readonly problem: string | null;
  readonly isRunning: boolean;
  /** config.json, if other users can read it; otherwise null. */
  readonly readableConfig: string | null;
  readonly formatTime: (at: number) => string;
}

const create = createFindings("channels", "channels");

/** Nothing if there is no channel: most users have none. */
export function checkChannels(facts: ChannelsFacts): Finding[] {
  const { channels, problem, isRunning, readableConfig, formatTime } = facts;
  const open = channels.filter(({ isOpen, answers }) => isOpen && answers !== "off").map(({ name }) => name);
  return [
    ...(problem === null ? [] : [create("fail", "secrets", problem)]),
    ...(readableConfig === null || open.length === 0
      ? []
      : [
          create(
            "warn",
            "readable",
            `other users can read ${readableConfig}, and so answer through ${formatList(open)}`,
            `Run: chmod 600 '${readableConfig}'`,
          ),
        ]),
    ...channels.map(({ name, service, answers, mistakes, report }): Finding => {
      const fix = `Run: beckon channel add ${name}`;
      if (mistakes.length > 0) return create("fail", "settings", mistakes.join("; "), fix);
      if (report === null) {
        const why = isRunning ? "beckon does not use it yet" : "beckon is not running";
        return create(
          "info",
          "unknown",
          `${name} (${service}): its settings are complete. Not tried, because ${why}`,
        );
      }
      if (report.problem !== null)
        return create(
          "fail",
          "failing",
          `${name} (${service}): ${report.problem}`,
          `Try again: beckon channel test ${name}. To change its settings: beckon channel add ${name}`,
        );
      const last =
        report.lastSentAt === null
          ? "no alert sent since the start"
          : `last sent ${formatTime(report.lastSentAt)}`;
      const taken = answers === "off" ? "no answers" : `answers: ${answers}`;
      return create(
        "ok",
        "works",
        `${name} (${service}): ${last}, ${taken}. Try it: beckon channel test ${name}`,
      );
    }),
  ];
}
