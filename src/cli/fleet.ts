/** `beckon fleet`: brings machines together on a server of Redis. What they say there is in src/machines/fleet. */
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { readRedisUrl } from "../core/config/redis-url.ts";
import { toSingleLine, truncateEnd } from "../core/text/text.ts";
import { formatChoices, formatCount, formatList } from "../core/text/words.ts";
import { changeFleets, type FleetRecord, readFleets } from "../machines/fleet/fleet-file.ts";
import { formatInvitation, type Invitation, readInvitation } from "../machines/fleet/invitation.ts";
import {
  askToJoin,
  createFleet,
  inviteMachine,
  leaveFleet,
  listWaiting,
  type OwnMachine,
  readMembers,
  readWelcome,
  removeMember,
  rotateKey,
  type Waiting,
  welcome,
} from "../machines/fleet/membership.ts";
import { openRedis, type Redis, type RedisAddress, RedisProblem } from "../machines/fleet/redis.ts";
import { type FleetReport, sayDropped, sayFleetState, sayWaits } from "../machines/fleet/report.ts";
import { shareOf, shareWords } from "../machines/fleet/share.ts";
import { readFileStamp } from "../storage/files.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { parseArguments, quote, readSubcommand, usageError } from "./args.ts";
import {
  fleetApprove,
  fleetCommand,
  fleetCreate,
  fleetInvite,
  fleetJoin,
  fleetLeave,
  fleetList,
  fleetRemove,
  fleetRotate,
} from "./commands/fleet.ts";
import { announceFleets, fetchFleetReports } from "./fleet-facts.ts";
import { formatColumns, formatJson, print, printLines } from "./output.ts";
import { createPrompter } from "./prompt.ts";

const subcommands = { create, invite, join, approve, list, remove, rotate, leave };

export async function fleet(args: string[]): Promise<number> {
  const called = readSubcommand(args, fleetCommand);
  const paths = resolvePaths();
  const before = readFileStamp(paths.fleets);
  const code = await subcommands[called.subcommand](called.args);
  // The running app follows it from now on, or no longer.
  if (readFileStamp(paths.fleets) !== before) await announceFleets(paths);
  return code;
}

const passwordVariable = "BECKON_REDIS_PASSWORD";
const namePattern = /^[A-Za-z0-9][\w.-]{0,39}$/;

function checkName(name: string): string {
  if (namePattern.test(name)) return name;
  throw usageError(`${quote(name)} is not a name: letters, digits, dots, dashes and underscores, 40 at most`);
}

type OwnValues = Readonly<
  Partial<Record<"--as" | "--person" | "--share" | "--ca" | "--cert" | "--key", string>>
>;

const takeName = (text: string): string => truncateEnd(toSingleLine(text), 40) || "machine";

const readOwn = (values: OwnValues): OwnMachine => ({
  name: takeName(values["--as"] ?? hostname()),
  person: takeName(values["--person"] ?? userInfo().username),
});

const shares = ["minimal", "summary", "full"] as const;

function readShare(kind: FleetRecord["kind"], text: string | undefined): FleetRecord["share"] {
  if (text === undefined) return kind === "team" ? "minimal" : "full";
  const share = shares.find((known) => known === text);
  if (!share) throw usageError(`--share takes ${formatChoices(shares)}, but got ${quote(text)}`);
  if (share === "full" && kind === "team")
    throw usageError("a team is shown who is blocked, not what was said: --share minimal or summary");
  return share;
}

const readFileOption = (path: string | undefined): string | null =>
  path === undefined ? null : readFileSync(path, "utf8");

function readCertificates(url: string, values: OwnValues) {
  const { "--ca": ca, "--cert": certificate, "--key": key } = values;
  if (!url.startsWith("rediss:") && (ca ?? certificate ?? key) !== undefined)
    throw usageError("--ca, --cert and --key need an address that starts with rediss://");
  if ((certificate === undefined) !== (key === undefined))
    throw usageError("--cert and --key belong together");
  return {
    ca: readFileOption(ca),
    certificate: readFileOption(certificate),
    key: readFileOption(key),
  };
}

/** Without a terminal, the password must be in the environment or in the address. */
async function readPassword(given: string | null): Promise<string | null> {
  const known = given ?? process.env[passwordVariable];
  if (known !== undefined) return known;
  if (process.stdin.isTTY !== true) return null;
  const prompter = createPrompter("stopped: nothing was written");
  try {
    return (await prompter.ask("The server's password (empty if it has none):", { isHidden: true })) || null;
  } finally {
    prompter.close();
  }
}

async function confirm(question: string): Promise<boolean> {
  if (process.stdin.isTTY !== true) throw usageError("without a terminal, say it with --yes");
  const prompter = createPrompter("stopped: nothing was changed");
  try {
    return /^y(?:es)?$/i.test(await prompter.ask(`${question} [y/N]`));
  } finally {
    prompter.close();
  }
}

async function withRedis<T>(address: RedisAddress, use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = openRedis(address);
  try {
    return await use(redis);
  } catch (error) {
    if (error instanceof RedisProblem) throw new Error(`${new URL(address.url).host}: ${error.message}`);
    throw error;
  } finally {
    redis.close();
  }
}

const save = (paths: Paths, name: string, record: FleetRecord): void =>
  changeFleets(paths, (fleets) => ({ ...fleets, [name]: record }));

function findFleet(paths: Paths, wanted: string | undefined): readonly [string, FleetRecord] {
  const { fleets, problem } = readFleets(paths);
  if (problem !== null) throw new Error(problem);
  const names = Object.keys(fleets);
  if (names.length === 0)
    throw usageError("this machine is in no fleet. Start one: beckon fleet create NAME --url URL");
  const name = wanted ?? (names.length === 1 ? names[0] : undefined);
  const found = name !== undefined && Object.hasOwn(fleets, name) ? fleets[name] : undefined;
  if (name !== undefined && found) return [name, found];
  throw usageError(
    wanted === undefined
      ? `this machine is in several fleets: say --fleet ${formatChoices(names)}`
      : `this machine is in no fleet ${quote(wanted)}: there is ${formatList(names)}`,
  );
}

async function create(args: string[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, fleetCreate);
  const [text, extra] = rest;
  if (text === undefined || extra !== undefined) throw usageError("fleet create takes one name, like home");
  const name = checkName(text);
  if (values["--url"] === undefined)
    throw usageError("fleet create needs --url, like rediss://user@host:6379/0");
  const address = readRedisUrl(values["--url"]);
  if (typeof address === "string") throw usageError(`${quote(values["--url"])} ${address}`);
  const paths = resolvePaths();
  if (Object.hasOwn(readFleets(paths).fleets, name))
    throw usageError(`this machine is in a fleet ${quote(name)} already: choose another name`);
  const kind = flags.has("--team") ? "team" : "personal";
  const settings = {
    url: address.url,
    password: await readPassword(address.password),
    ...readCertificates(address.url, values),
    kind,
    share: readShare(kind, values["--share"]),
    answers: kind === "personal" && !flags.has("--no-answers"),
  } as const;
  return withRedis(settings, async (redis) => {
    const record = await createFleet(redis, readOwn(values), settings);
    save(paths, name, record);
    const invitation = await inviteMachine(redis, record, name, Date.now());
    if (!flags.has("--json")) printLines([`Started the fleet ${name}. This machine is its first member.`]);
    printInvitation(invitation, flags.has("--json"));
    return 0;
  });
}

function printInvitation(invitation: Invitation, isJson: boolean): void {
  const text = formatInvitation(invitation);
  if (isJson) print(formatJson({ invitation: text, ends: new Date(invitation.ends).toISOString() }, 2));
  else
    printLines([
      "On the other machine, within ten minutes:",
      "",
      `  beckon fleet join ${text}`,
      "",
      "Then here: beckon fleet approve",
      "The invitation works once. It does not contain the server's password.",
    ]);
}

async function invite(args: string[]): Promise<number> {
  const { values, flags } = parseArguments(args, fleetInvite);
  const paths = resolvePaths();
  const [name, record] = findFleet(paths, values["--fleet"]);
  return withRedis(record, async (redis) => {
    const latest = await goForward(redis, paths, name, record);
    printInvitation(await inviteMachine(redis, latest, name, Date.now()), flags.has("--json"));
    return 0;
  });
}

/** The fleet with the latest list of members, which is written down. */
async function goForward(
  redis: Redis,
  paths: Paths,
  name: string,
  record: FleetRecord,
): Promise<FleetRecord> {
  const { fleet: latest, problem, isRemoved } = await readMembers(redis, record);
  if (isRemoved)
    throw new RedisProblem(`this machine was removed from ${name}: beckon fleet leave --fleet ${name}`, true);
  if (problem !== null) throw new RedisProblem(problem, true);
  if (latest !== record) save(paths, name, latest);
  return latest;
}

const pollMs = 1_000;

async function join(args: string[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, fleetJoin);
  const invitation = readInvitation(rest.join(""));
  if (!invitation) throw usageError("this is not an invitation: it starts with beckon-fleet-");
  const paths = resolvePaths();
  const { fleets } = readFleets(paths);
  const known = Object.entries(fleets).find(([, { id }]) => id === invitation.fleet);
  if (known) throw usageError(`this machine is in that fleet already, as ${known[0]}`);
  const name = Object.hasOwn(fleets, invitation.name) ? `${invitation.name}-2` : checkName(invitation.name);
  const settings = {
    password: await readPassword(null),
    ...readCertificates(invitation.url, values),
    share: readShare(invitation.kind, values["--share"]),
    answers: invitation.kind === "personal" && !flags.has("--no-answers"),
  };
  return withRedis({ url: invitation.url, ...settings }, async (redis) => {
    const joining = await askToJoin(redis, invitation, readOwn(values), Date.now());
    const { words } = joining;
    if (flags.has("--json")) print(formatJson({ words }));
    else
      printLines([
        `The six words of this machine: ${words}`,
        "Say yes on the other machine, if it shows the same: beckon fleet approve",
      ]);
    while (Date.now() < invitation.ends) {
      const joined = await readWelcome(redis, invitation, joining, settings);
      if (joined) {
        save(paths, name, joined);
        printLines([`Joined ${name}: ${formatCount(joined.members.members.length, "machine")}.`]);
        return 0;
      }
      await Bun.sleep(pollMs);
    }
    throw new RedisProblem("nobody said yes in time: ask for another invitation", true);
  });
}

async function approve(args: string[]): Promise<number> {
  const { values, flags } = parseArguments(args, fleetApprove);
  const paths = resolvePaths();
  const [name, record] = findFleet(paths, values["--fleet"]);
  return withRedis(record, async (redis) => {
    const latest = await goForward(redis, paths, name, record);
    const waiting = await listWaiting(redis, latest, Date.now());
    if (flags.has("--json") && !flags.has("--yes")) {
      print(
        formatJson(
          {
            waiting: waiting.map(({ member, words }) => ({
              name: member.name,
              person: member.person,
              words,
            })),
          },
          2,
        ),
      );
      return 0;
    }
    if (waiting.length === 0) {
      printLines(["No machine waits. Use an invitation on it first: beckon fleet join INVITATION"]);
      return 1;
    }
    let current = latest;
    for (const one of waiting) current = await approveOne(redis, current, one, flags.has("--yes"));
    save(paths, name, current);
    return 0;
  });
}

async function approveOne(
  redis: Redis,
  record: FleetRecord,
  waiting: Waiting,
  isSure: boolean,
): Promise<FleetRecord> {
  const { member, words } = waiting;
  const who = `${toSingleLine(member.name)} of ${toSingleLine(member.person)}`;
  printLines([`${who} shows these six words: ${words}`]);
  if (!isSure && !(await confirm("Are they the same there?"))) {
    printLines([`${who} was not let in.`]);
    return record;
  }
  const after = await welcome(redis, record, waiting);
  printLines([`${who} is in the fleet.`]);
  return after;
}

async function list(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, fleetList);
  const paths = resolvePaths();
  const { fleets, problem } = readFleets(paths);
  if (problem !== null) throw new Error(problem);
  const reports = await fetchFleetReports(paths);
  const findReport = (wanted: string) => reports?.find(({ name }) => name === wanted) ?? null;
  if (flags.has("--json")) {
    const all = Object.entries(fleets).map(([name, record]) => describe(name, record, findReport(name)));
    print(formatJson({ isRunning: reports !== null, fleets: all }, 2));
    return 0;
  }
  if (Object.keys(fleets).length === 0) {
    printLines(["This machine is in no fleet. Start one: beckon fleet create NAME --url URL"]);
    return 0;
  }
  for (const [name, record] of Object.entries(fleets)) {
    const { kind, answers, members, machine } = record;
    const report = findReport(name);
    const dropped = report && sayDropped(report.dropped);
    printLines([
      `${name}: ${kind === "team" ? "a team" : "your machines"}, at ${new URL(record.url).host}`,
      `  the others see ${shareWords[shareOf(record)]}; ${answers ? "your other machines may answer here" : "nobody else may answer here"}`,
      `  ${report ? sayFleetState(report) : "unknown: beckon is not running"}`,
      ...(dropped === null ? [] : [`  ${dropped}`]),
    ]);
    const you = members.members.find(({ id }) => id === machine)?.person;
    const rows = members.members.map(({ id, name, person }) => {
      const waits = report?.members.find((member) => member.id === id);
      return [
        `  ${name}`,
        person,
        id === machine ? "this machine" : sayPresence(report, id),
        waits ? sayWaits(waits, person === you ? "you" : person, Date.now()) : "",
      ];
    });
    printLines(formatColumns(rows).map((line) => line.trimEnd()));
  }
  return 0;
}

function sayPresence(report: FleetReport | null, machine: string): string {
  if (report?.state !== "connected") return "";
  return report.members.find(({ id }) => id === machine)?.isThere ? "there" : "not there";
}

const describe = (
  name: string,
  { url, kind, share, answers, members, machine }: FleetRecord,
  report: FleetReport | null,
) => ({
  name,
  server: new URL(url).host,
  kind,
  share,
  answers,
  state: report?.state ?? null,
  problem: report?.problem ?? null,
  waiting: report?.waiting ?? null,
  dropped: report?.dropped ?? null,
  members: members.members.map(({ id, name, person }) => {
    const reported = report?.members.find((member) => member.id === id);
    return {
      name,
      person,
      isThis: id === machine,
      isThere: reported?.isThere ?? null,
      needing: reported?.needing ?? null,
      since: reported?.since ?? null,
    };
  }),
});

async function remove(args: string[]): Promise<number> {
  const { rest, values, flags } = parseArguments(args, fleetRemove);
  const [wanted, extra] = rest;
  if (wanted === undefined || extra !== undefined)
    throw usageError("fleet remove takes the name of one machine");
  const paths = resolvePaths();
  const [name, record] = findFleet(paths, values["--fleet"]);
  return withRedis(record, async (redis) => {
    const latest = await goForward(redis, paths, name, record);
    const found = latest.members.members.filter((member) => member.name === wanted || member.id === wanted);
    const [member, other] = found;
    if (!member) throw usageError(`no machine ${quote(wanted)} in ${name}`);
    if (other)
      throw usageError(
        `several machines are called ${quote(wanted)}: ${formatList(found.map(({ id }) => id))}`,
      );
    if (member.id === latest.machine) throw usageError("this is the machine itself: beckon fleet leave");
    if (!flags.has("--yes") && !(await confirm(`Remove ${member.name} of ${member.person} from ${name}?`)))
      return 1;
    save(paths, name, await removeMember(redis, latest, member.id));
    printLines([
      `Removed ${member.name}. The others have a new key, which it never had.`,
      "It may still know the server's password: change that too, so that it cannot disturb.",
    ]);
    return 0;
  });
}

async function rotate(args: string[]): Promise<number> {
  const { values } = parseArguments(args, fleetRotate);
  const paths = resolvePaths();
  const [name, record] = findFleet(paths, values["--fleet"]);
  return withRedis(record, async (redis) => {
    const after = await rotateKey(redis, record);
    save(paths, name, after);
    printLines([`${name} has a new key, for ${formatCount(after.members.members.length, "machine")}.`]);
    return 0;
  });
}

async function leave(args: string[]): Promise<number> {
  const { values, flags } = parseArguments(args, fleetLeave);
  const paths = resolvePaths();
  const [name, record] = findFleet(paths, values["--fleet"]);
  if (!flags.has("--yes") && !(await confirm(`Leave ${name}, and forget its keys here?`))) return 1;
  const told = await withRedis(record, (redis) => leaveFleet(redis, record)).then(
    () => true,
    () => false,
  );
  changeFleets(paths, ({ [name]: _, ...others }) => others);
  printLines([
    `Left ${name}.`,
    told
      ? "On another machine, change the key that this one knew: beckon fleet rotate"
      : "The server could not be told: on another machine, run beckon fleet remove",
  ]);
  return 0;
}
