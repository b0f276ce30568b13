/** `beckon rules` and `beckon trust`: what is allowed without asking. */
import { resolve } from "node:path";
import type { BackTest, RulesReport, RuleView } from "../core/interfaces/wire.ts";
import { viewKeyOf } from "../core/session/session-ref.ts";
import { shortenHome } from "../core/text/paths.ts";
import { quoteIfNeeded } from "../core/text/shell-quote.ts";
import { toSingleLine } from "../core/text/text.ts";
import { formatCount } from "../core/text/words.ts";
import { formatExactDuration } from "../core/view/figures.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { formatLocalTime, parseLocalTime } from "../system/clock.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { callApi } from "./client.ts";
import { rulesCommand, trustCommand } from "./commands/rules.ts";
import { fetchSession } from "./find-session.ts";
import { formatColumns, formatJson, homeFolder, print, printLines, stripControls } from "./output.ts";

/** All of the history is read. */
const timeoutMs = 30_000;

async function call<Result>(paths: Paths, path: string, body?: object): Promise<Result> {
  const response = await callApi(paths, path, { ...(body ? { body } : {}), timeoutMs });
  if (typeof response === "string") throw new Error(response);
  if (response.status !== 200) throw new Error(stripControls(String(response.body.error)));
  return response.body as Result;
}

export async function rules(args: string[]): Promise<number> {
  const { flags, values, rest } = parseArguments(args, rulesCommand);
  const [action = "list", text, ...others] = rest;
  if (others[0] !== undefined) throw usageError(`rules got ${quote(others[0])}, which it does not know`);
  const paths = resolvePaths();
  const asJson = flags.has("--json");
  const rule = {
    project: resolve(values["--project"] ?? "."),
    ...(values["--agent"] === undefined ? {} : { agent: values["--agent"] }),
  };
  switch (action) {
    case "list":
    case "suggest": {
      if (text !== undefined) throw usageError(`rules ${action} takes no rule`);
      const report = await call<RulesReport>(paths, "/api/rules");
      if (asJson) print(formatJson(report, 2));
      else printLines(action === "list" ? formatRules(report) : formatSuggestions(report));
      return 0;
    }
    case "test": {
      const { test } = await call<{ test: BackTest }>(paths, "/api/rules/test", {
        ...rule,
        ...named(text, action),
      });
      if (asJson) print(formatJson(test, 2));
      else printLines(formatTest(test));
      return test.deniedByYou > 0 ? 1 : 0;
    }
    case "add": {
      const added = await call<{ rule: RuleView }>(paths, "/api/rules/add", {
        ...rule,
        ...named(text, action),
      });
      if (asJson) print(formatJson(added.rule, 2));
      else
        printLines([
          `Added: ${describeRule(added.rule)}. To remove it: beckon rules remove ${added.rule.name}`,
        ]);
      return 0;
    }
    case "remove": {
      const removed = await call<{ rule: RuleView }>(paths, "/api/rules/remove", named(text, action));
      if (asJson) print(formatJson(removed.rule, 2));
      else printLines([`Removed: ${describeRule(removed.rule)}. It is asked again from now on`]);
      return 0;
    }
    default:
      throw usageError(`rules takes list, suggest, test, add or remove, but got ${quote(action)}`);
  }
}

/** A name has no brackets. */
function named(text: string | undefined, action: string): { name: string } | { text: string } {
  if (text === undefined) throw usageError(`rules ${action} takes a rule`);
  return text.includes("(") ? { text } : { name: text };
}

const home = (folder: string): string => shortenHome(folder, homeFolder());
const describeRule = ({ text, project }: Pick<RuleView, "text" | "project">): string =>
  `${text} in ${home(project)}`;

function formatRules({ rules: own, settings, trusts, problems, suggestions }: RulesReport): string[] {
  const now = Date.now();
  const describeUse = ({ use }: Pick<RuleView, "use">): string =>
    use === null
      ? "never used"
      : `${formatCount(use.count, "use")} in 30 days, last ${formatLocalTime(use.lastAt, now)}`;
  const rows = [
    ...own.map((rule) => [rule.name, rule.text, home(rule.project), describeUse(rule)]),
    ...settings.map((rule) => ["(settings)", rule.text, home(rule.project), describeUse(rule)]),
  ];
  return [
    ...problems,
    ...trusts.map(
      ({ project, session, until, uses }) =>
        `Trusted until ${formatLocalTime(until, now)}: ${toSingleLine(project ?? session)}, ${formatCount(uses, "use")}`,
    ),
    ...(rows.length === 0 ? ["There are no rules: everything is asked."] : formatColumns(rows)),
    ...(suggestions.length === 0
      ? []
      : [`${formatCount(suggestions.length, "suggestion")}. To see them: beckon rules suggest`]),
  ];
}

function formatSuggestions({ suggestions, asks, since, problems }: RulesReport): string[] {
  const from = since === null ? "" : ` since ${formatLocalTime(since, Date.now())}`;
  if (suggestions.length === 0)
    return [
      ...problems,
      `Nothing to suggest from ${formatCount(asks, "ask")}${from}. A rule is suggested after three like answers, none of them a denial.`,
    ];
  return [
    ...problems,
    `Tried on ${formatCount(asks, "ask")}${from}:`,
    ...suggestions.flatMap(({ text, project, agent, test }) => [
      "",
      `${text} in ${home(project)}`,
      ...formatTest(test).map((line) => `  ${line}`),
      `  To add it: beckon rules add ${quoteIfNeeded(text)} --project ${quoteIfNeeded(project)} --agent ${agent}`,
    ]),
  ];
}

function formatTest(test: BackTest): string[] {
  const { answered, asks, allowedByYou, deniedByYou, savedMs, medianMs, longest, would, stillAsks } = test;
  if (answered === 0) return [`would have answered none of ${formatCount(asks, "ask")}`];
  const denied = deniedByYou === 0 ? "none that you denied" : `${deniedByYou} that you DENIED`;
  const most = longest === null ? "" : `, at most ${formatExactDuration(longest.ms)}`;
  return [
    `would have answered ${answered} of ${formatCount(asks, "ask")}: ${allowedByYou} as you did, ${denied}`,
    `waiting saved: ${formatExactDuration(savedMs)}, median ${formatExactDuration(medianMs)}${most}`,
    ...would.map(({ text, count }) => `  allowed     ${String(count).padStart(3)}×  ${toSingleLine(text)}`),
    ...stillAsks.map(
      ({ text, count, why }) => `  still asked ${String(count).padStart(3)}×  ${toSingleLine(text)} (${why})`,
    ),
  ];
}

export async function trust(args: string[]): Promise<number> {
  const { flags, values, rest } = parseArguments(args, trustCommand);
  const [name] = rest;
  const { "--until": time, "--for": duration } = values;
  const isEnd = flags.has("--end");
  if (name === undefined || [time !== undefined, duration !== undefined, isEnd].filter(Boolean).length !== 1)
    throw usageError("trust takes a session, and one of --until, --for and --end");
  const now = Date.now();
  const until = time === undefined ? parseDuration(duration ?? "", now) : parseLocalTime(time, now);
  if (!isEnd && until === null)
    throw usageError(
      time === undefined ? "--for takes a time like 30m or 2h" : "--until takes a time like 15:00",
    );
  const paths = resolvePaths();
  const session = await fetchSession(paths, name);
  const path = `/api/sessions/${encodeURIComponent(viewKeyOf(session))}/trust`;
  const result = await call<{ ended?: boolean }>(paths, path, isEnd ? { end: true } : { until });
  if (flags.has("--json")) print(formatJson(result, 2));
  else if (isEnd) printLines([result.ended ? "It is asked again from now on." : "It was not trusted."]);
  else
    printLines([
      `Trusted until ${formatLocalTime(until ?? now, now)}: what it asks is allowed, except what is marked as dangerous. To end it: beckon trust ${quoteIfNeeded(name)} --end`,
    ]);
  return 0;
}

/** "30m", "2h". null if it is not a duration. */
function parseDuration(text: string, now: number): number | null {
  const [, count = "", unit] = /^(\d{1,4})(m|h)$/.exec(text.trim()) ?? [];
  return count === "" ? null : now + Number(count) * (unit === "h" ? 60 : 1) * 60_000;
}
