/** `beckon completions`: the script for a shell, and what that script offers when the user presses Tab. */
import type { Agent } from "../agents/agent.ts";
import { groupLabels } from "../core/view/group-names.ts";
import { sortViews } from "../core/view/order.ts";
import type { SessionView } from "../core/view/session-view.ts";
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments, quote, usageError } from "./args.ts";
import { fetchSessions } from "./client.ts";
import { type CommandGroups, resolveText, type Values } from "./command.ts";
import { completionsCommand, shells } from "./commands/completions.ts";
import { type OfferedWord, planCompletion } from "./completion-plan.ts";
import { scripts } from "./completion-scripts.ts";
import { findUniqueLength, nameOf } from "./find-session.ts";
import { print, truncateToColumns } from "./output.ts";

export async function completions(
  args: string[],
  agents: readonly Agent[],
  commands: CommandGroups,
): Promise<number> {
  const { flags, rest } = parseArguments(args, completionsCommand);
  if (flags.has("--complete")) return printCandidates(rest, agents, commands);
  const shell = rest.length === 1 ? shells.find((known) => known === rest[0]) : undefined;
  if (shell === undefined) {
    const got = rest.length === 0 ? "" : `, but got ${quote(rest.join(" "))}`;
    throw usageError(`completions takes the name of a shell: ${shells.join(", ")}${got}`);
  }
  print(scripts[shell]);
  return 0;
}

const maxAboutColumns = 60;

async function printCandidates(
  words: readonly string[],
  agents: readonly Agent[],
  commands: CommandGroups,
): Promise<number> {
  try {
    const { typed, inline, choices, values } = planCompletion(words, commands);
    const listed = values === null ? [] : await listValues(values, typed, agents, commands);
    const lines = [...choices, ...listed]
      .filter(([word]) => word.startsWith(typed) || word === folders)
      .map(([word, about]) => [
        inline + word,
        truncateToColumns(resolveText(about, agents), maxAboutColumns),
      ]);
    print(lines.map((parts) => `${parts.filter(Boolean).join("\t")}\n`).join(""));
    return 0;
  } catch {
    // The user is typing: an error would be in the middle of their command line.
    return 1;
  }
}

/** In place of candidates: the shell lists folders itself. */
const folders = ":folders";

async function listValues(
  values: Values,
  typed: string,
  agents: readonly Agent[],
  commands: CommandGroups,
): Promise<readonly OfferedWord[]> {
  switch (values) {
    case "agents":
      return agents.map(({ id, name }) => [id, name]);
    case "commands":
      return commands.flat().flatMap(({ name, page }) => {
        const about = page?.overview[0]?.[1];
        return about === undefined ? [] : [[name.replace(/^-+/, ""), about] as const];
      });
    case "folders":
      return [[folders, ""]];
    case "channels":
      return keepPlain(await listChannels());
    case "machines":
      return keepPlain(await listMachines());
    case "ports":
      return keepPlain(await listPorts());
    case "projects":
      return keepPlain((await readSessions()).map(({ project }) => [project ?? "", ""]));
    case "settings":
      return (await import("../core/config/config.ts")).settings.map(({ key, title }) => [key, title]);
    case "sessions":
      return keepPlain(nameSessions(await readSessions(), typed));
    default:
      return values.map((value) => [value, ""]);
  }
}

/**
 * Names come from outside: a project is called what its folder is called. Only words that mean themselves in every shell, also
 * inside of quotes, are offered: no quotes, no spaces, no `$`, nothing that begins with a dash.
 */
const plainWord = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+-]*$/u;

const keepPlain = (candidates: readonly OfferedWord[]): readonly OfferedWord[] => [
  ...new Map(candidates.filter(([word]) => plainWord.test(word)).map((one) => [one[0], one])).values(),
];

/** A Tab that takes longer feels broken. */
const timeoutMs = 500;

/** Those that can still be named, the ones that need the user first. */
async function readSessions(): Promise<readonly SessionView[]> {
  const response = await fetchSessions(resolvePaths(), { timeoutMs });
  if (typeof response === "string") return [];
  return sortViews(response.sessions.filter(({ group }) => group !== "ended"));
}

/** By project if that names one session and can be typed as it is, else by the start of the id. */
function nameSessions(sessions: readonly SessionView[], typed: string): readonly OfferedWord[] {
  const idLength = findUniqueLength(sessions.map(({ sessionId }) => sessionId));
  const isOnly = (name: string) => sessions.filter(({ project }) => project === name).length === 1;
  const named = sessions.map((session) => {
    const { sessionId, project, group, title, lastPrompt } = session;
    const id = sessionId.slice(0, idLength);
    const topic = title ?? lastPrompt ?? "";
    const about = `${groupLabels[group]}${topic === "" ? "" : `: ${topic}`}`;
    const isNamed = project !== null && plainWord.test(project) && isOnly(project);
    const byId: OfferedWord = [id, `${nameOf(session)} ${about}`];
    return { byId, preferred: isNamed ? ([project, about] as const) : byId };
  });
  const preferred = named.map((one) => one.preferred);
  const fits = preferred.some(([word]) => word.startsWith(typed));
  return fits ? preferred : named.map(({ byId }) => byId);
}

async function listChannels(): Promise<readonly OfferedWord[]> {
  const { readConfigFile } = await import("../storage/config-file.ts");
  const { channels } = readConfigFile(resolvePaths().config).config;
  return Object.entries(channels).map(([name, { type }]) => [name, type]);
}

async function listMachines(): Promise<readonly OfferedWord[]> {
  const { readConfigFile } = await import("../storage/config-file.ts");
  const { machines } = readConfigFile(resolvePaths().config).config;
  return Object.keys(machines).map((name) => [name, ""]);
}

async function listPorts(): Promise<readonly OfferedWord[]> {
  const [{ readConfigFile }, { openProject }, ports] = await Promise.all([
    import("../storage/config-file.ts"),
    import("../workguard/project.ts"),
    import("../workguard/ports.ts"),
  ]);
  const paths = resolvePaths();
  const { book, folder } = openProject(paths, readConfigFile(paths.config).config.workGuard, process.cwd());
  return ports
    .listPorts(book, folder)
    .filter(({ endedAt }) => endedAt === null)
    .map(({ id, title }) => [id, title]);
}
