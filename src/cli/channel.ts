/** `beckon channel`: lists, adds, tests and removes the places outside of this machine where alerts go. */

import type { ChannelReport } from "../channels/channel-list.ts";
import { findService } from "../channels/index.ts";
import { removeChannelSecrets } from "../channels/secrets.ts";
import { resolvePaths } from "../storage/paths.ts";
import { formatLocalTime } from "../system/clock.ts";
import { deleteEntry } from "../user-files/config-entries.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import { addChannel } from "./channel-add.ts";
import { fetchChannelReports, readChannels } from "./channel-facts.ts";
import { testChannel, unknownChannel } from "./channel-test.ts";
import type { Callable } from "./command.ts";
import { channelAdd, channelCommand, channelList, channelRemove, channelTest } from "./commands/channel.ts";
import { formatColumns, formatJson, homeFolder, print, printLines } from "./output.ts";

const subcommands = {
  add: (args: string[]) => addChannel(readName(args, channelAdd)),
  test: (args: string[]) => testChannel(readName(args, channelTest)),
  list: listChannels,
  remove: removeChannel,
};

export async function channel(args: string[]): Promise<number> {
  const called = readSubcommand(args, channelCommand);
  return subcommands[called.subcommand](called.args);
}

function readName(args: readonly string[], command: Callable): string {
  const [name, extra] = parseArguments(args, command).rest;
  if (name === undefined) throw usageError(`${command.name} takes the name of a channel, like phone`);
  if (extra !== undefined) throw usageError(`${command.name} got one argument too many: ${quote(extra)}`);
  return name;
}

async function removeChannel(args: string[]): Promise<number> {
  const name = readName(args, channelRemove);
  const paths = resolvePaths();
  // The settings first: the running beckon reports a channel whose secrets are missing.
  const hadSettings = await deleteEntry(paths.config, homeFolder(), "channels", name);
  const hadSecrets = removeChannelSecrets(paths, name);
  if (!hadSettings && !hadSecrets) {
    const { channels, problems } = readChannels(paths);
    throw unknownChannel(name, channels, problems, "no channel is set up, so there is nothing to remove");
  }
  const files = [hadSettings ? paths.config : null, hadSecrets ? paths.channelSecrets : null];
  printLines([`Removed ${name} from ${files.filter((path) => path !== null).join(" and ")}.`]);
  return 0;
}

async function listChannels(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, channelList);
  const paths = resolvePaths();
  const { channels, problems } = readChannels(paths);
  const reports = await fetchChannelReports(paths);
  const rows = channels.map(({ name, settings, checked }) => {
    const report = reports?.find((known) => known.name === name);
    const wrong = "problems" in checked ? checked.problems.join("; ") : null;
    return {
      name,
      type: settings.type,
      detail: settings.detail,
      answers: settings.answers,
      when: settings.when,
      afterSeconds: settings.afterSeconds,
      problem: wrong ?? report?.problem ?? null,
      lastSentAt: report?.lastSentAt ?? null,
    };
  });
  if (flags.has("--json")) {
    print(formatJson({ isRunning: reports !== null, channels: rows, problems }, 2));
    return 0;
  }
  printLines(problems);
  if (rows.length === 0) {
    printLines(["No channel is set up. Add one: beckon channel add phone"]);
    return 0;
  }
  printLines(
    formatColumns([
      headings,
      ...rows.map((row) => [
        row.name,
        formatType(row.type),
        row.detail,
        row.answers,
        formatState(row, reports !== null),
      ]),
    ]),
  );
  return 0;
}

const formatType = (type: string): string => findService(type)?.name ?? type;

function formatState(
  { problem, lastSentAt }: Pick<ChannelReport, "problem" | "lastSentAt">,
  isRunning: boolean,
): string {
  if (problem !== null) return `not working: ${problem}`;
  if (!isRunning) return "beckon is not running";
  const now = Date.now();
  return lastSentAt === null
    ? "no alert sent since the start"
    : `last sent ${formatLocalTime(lastSentAt, now)}`;
}

const headings = ["NAME", "SERVICE", "DETAIL", "ANSWERS", "STATE"];
