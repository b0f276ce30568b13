/** `beckon status --at TIME`: the sessions as they were at a moment of the past, how their asks ended, and why alerts came or did not. */
import { addPastAlerts } from "../app/moment.ts";
import type { PastMoment } from "../core/interfaces/wire.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import { summarizeAsk } from "../core/session/texts.ts";
import { minuteMs } from "../core/timing.ts";
import { formatRoughAge } from "../core/view/figures.ts";
import { describePastAlert, describePastEnd } from "../core/view/past-ask.ts";
import { formatSessionName, nameViews } from "../core/view/session-names.ts";
import type { SessionView } from "../core/view/session-view.ts";
import type { Paths } from "../storage/paths.ts";
import { formatLocalTime, parsePastTime } from "../system/clock.ts";
import { quote, usageError } from "./args.ts";
import { formatJson, formatLine, hasColour, homeFolder, print, terminalColumns, wrapText } from "./output.ts";
import { formatQuiet } from "./quiet.ts";
import { askHistory, formatQuery } from "./read-history.ts";
import { formatStatusTable } from "./status-table.ts";

interface MomentOptions {
  readonly paths: Paths;
  readonly isShown: (session: SessionView) => boolean;
  readonly asJson: boolean;
  readonly listsEnded: boolean;
}

export async function printMoment(text: string, options: MomentOptions): Promise<number> {
  const now = Date.now();
  const at = parsePastTime(text, now);
  if (at === null)
    throw usageError(
      `--at must be a time like 14:20, "yesterday 14:20" or "2026-11-17 14:20", not ${quote(text)}`,
    );
  if (at > now) throw usageError(`${quote(text)} has not come yet`);
  const { paths } = options;
  const ask = (time: number) =>
    askHistory<PastMoment>(paths, `/api/moment${formatQuery({ at: time })}`, {
      name: "findMoment",
      at: time,
    });
  const asked = await ask(at);
  // 14:20 is the minute, and what is kept may begin in it.
  const from = asked?.result.isKnown === false ? asked.result.from : null;
  const answer = from !== null && from > at && from < at + minuteMs ? await ask(from) : asked;
  if (answer === null) throw new Error("nothing has been recorded yet");
  // While beckon is stopped, nobody has looked into the answer log.
  const found = answer.isRunning ? answer.result : addPastAlerts(answer.result, paths.answerLog);
  const moment = { ...found, sessions: found.sessions.filter(options.isShown) };
  print(options.asJson ? formatJson(moment) : formatMoment(moment, options.listsEnded));
  return 0;
}

const maxLines = 6;

function formatMoment(moment: PastMoment, listsEnded: boolean): string {
  const { at, now, sessions } = moment;
  const columns = terminalColumns();
  const wrapAll = (texts: readonly string[]) =>
    texts.flatMap((text) => wrapText(formatLine(text), columns, maxLines));
  const table = moment.isKnown
    ? formatStatusTable(sessions, {
        now: at,
        columns,
        colour: hasColour(),
        home: homeFolder(),
        listsEnded,
        isPast: true,
      })
    : [];
  const parts = [wrapAll(describeMoment(moment)), table, wrapAll(describeAsks(moment))];
  const time = formatLocalTime(at, now);
  const head = `${time}, ${formatRoughAge(now - at)} ago. Nothing here can be answered.`;
  return `${[wrapAll([head]), ...parts]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** What must be known about the moment as a whole. */
function describeMoment({
  enabled,
  isKnown,
  from,
  stoppedAt,
  quiet,
  problem,
  at,
  now,
}: PastMoment): string[] {
  if (!enabled)
    return ["The history is off, so nothing is kept of what was. To turn it on, see: beckon config history"];
  const first = from === null ? "" : ` The first moment that is kept is ${formatLocalTime(from, now)}.`;
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(isKnown ? [] : [`Nothing is kept of that moment.${first}`]),
    ...(stoppedAt === undefined
      ? []
      : [
          `beckon did not run then. This is what it knew when it stopped, at ${formatLocalTime(stoppedAt, now)}.`,
        ]),
    ...(quiet ? [formatQuiet(quiet, at)] : []),
  ];
}

/** One line for how each open ask ended, and one for each of its alerts. */
function describeAsks({ sessions, ends, alerts = [], now }: PastMoment): string[] {
  const names = nameViews(sessions);
  const formatTime = (at: number) => formatLocalTime(at, now);
  return ends.flatMap((end) => {
    const session = sessions.find((view) => viewKeyOf(view) === end.key);
    const ask = session?.asks.find(({ id }) => id === end.ask);
    if (!session || !ask) return [];
    const name = names.get(end.key);
    const { done, rest } = describePastEnd(end, ask.kind, formatTime) ?? { done: "Still open", rest: "" };
    return [
      `${name ? formatSessionName(name) : end.key}: ${summarizeAsk(ask)}`,
      `  ${[done, rest].filter(Boolean).join(" ")}`,
      ...alerts
        .filter(({ key, ask: id }) => key === end.key && id === end.ask)
        .map((alert) => `  ${describePastAlert(alert, formatTime)}`),
    ];
  });
}
