/** What the work guard says about an edit, or about the start of a session. Pure. */
import type { GuardSettings } from "../core/config/work-guard.ts";
import type { HookOutput, PortSummary } from "../core/interfaces/wire.ts";
import { findRelativePath } from "../core/text/paths.ts";
import { truncateEnd } from "../core/text/text.ts";
import { foldId } from "./ports.ts";

export interface GuardQuestion {
  readonly settings: GuardSettings;
  /** The project's folder. null if unknown. */
  readonly project: string | null;
  /** A session starts. */
  readonly isStart: boolean;
  /** null if the event is not a call that changes a file. */
  readonly edit: { readonly tool: string; readonly path: string | null } | null;
  /** The port that the session's edits belong to. null if there is none. */
  readonly active: PortSummary | null;
  /** Ports of the project that could be started. */
  readonly open: readonly Pick<PortSummary, "id" | "title">[];
  /** How beckon is called: `beckon`, or its path. */
  readonly command: string;
  readonly session: Pick<
    HookOutput["context"],
    "loaded_docs" | "session_state" | "tokens_used" | "token_budget"
  > &
    Pick<HookOutput["metadata"], "session_id" | "fingerprint">;
}

/** Whether an edit of this file needs a port: it is inside of the project, and no pattern excludes it. */
export function needsPort(project: string | null, path: string | null, ignore: readonly string[]): boolean {
  if (project === null || path === null) return true;
  const relative = findRelativePath(project, path);
  if (relative === null || relative === ".beckon/ports.json") return false;
  return !ignore.some((pattern) => matchesPattern(pattern, relative));
}

/** A pattern without a slash is about the file's name, in any folder; one with a slash about the path in the project. */
function matchesPattern(pattern: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isAboutName = !pattern.includes("/");
  const inProject = pattern.replace(/^\.?\//, "").replace(/\/$/, "/**");
  return new Bun.Glob(isAboutName ? pattern : inProject).match(isAboutName ? name : path);
}

export function decide(question: GuardQuestion): HookOutput {
  const { settings, edit, active, project, session } = question;
  const { loaded_docs, session_state, tokens_used, token_budget, session_id, fingerprint } = session;
  const isUntracked =
    edit !== null &&
    active === null &&
    settings.mode !== "off" &&
    needsPort(project, edit.path, settings.ignore);
  const isBlocked = isUntracked && settings.mode === "strict";
  const suggestions = isUntracked ? createSuggestions(question) : [];
  return {
    decision: isBlocked ? "block" : "approve",
    reason: isBlocked ? formatReason(question, suggestions) : "",
    context: { active_port: active, loaded_docs, session_state, tokens_used, token_budget },
    notifications: createNotifications(question, isUntracked, suggestions),
    suggestions,
    metadata: {
      mode: settings.mode,
      project,
      session_id,
      fingerprint,
      ...createAnswers(question, isUntracked),
    },
  };
}

const maxListed = 3;
const maxTitleColumns = 60;

/** The commands that help, the most fitting first. */
function createSuggestions(question: GuardQuestion): string[] {
  const { settings, open, command } = question;
  const derived = settings.autoCreate ? deriveNames(question) : null;
  const start = open.slice(0, maxListed).map(({ id }) => `${command} port start ${id}`);
  const create = `${command} port create ID --title "TITLE" && ${command} port start ID`;
  const ready =
    derived === null
      ? []
      : [
          `${command} port create ${derived.id} --title "${derived.title}" && ${command} port start ${derived.id}`,
        ];
  return [...ready, ...start, create];
}

/** From the edited file: `src/login/form.ts` → `login-form`, "Change src/login/form.ts". null without a file. */
function deriveNames({ edit, project, open, active }: GuardQuestion): { id: string; title: string } | null {
  const path = edit?.path ?? null;
  if (path === null) return null;
  const relative = (project === null ? null : findRelativePath(project, path)) ?? path;
  const parts = relative
    .replace(/\.[^./]*$/, "")
    .split("/")
    .slice(-2)
    .map((part) =>
      part
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-+|-+$/g, ""),
    );
  const base = parts.filter(Boolean).join("-").slice(-40).replace(/^-+/, "") || "work";
  const taken = new Set([...open, ...(active ? [active] : [])].map(({ id }) => foldId(id)));
  let id = base;
  for (let n = 2; taken.has(id); n++) id = `${base}-${n}`;
  // It becomes part of a command, so only what means nothing to a shell stays.
  return { id, title: `Change ${truncateEnd(relative.replaceAll(/[^\w./ -]+/g, "_"), maxTitleColumns)}` };
}

function formatReason({ project, open }: GuardQuestion, suggestions: readonly string[]): string {
  const listed = open
    .slice(0, maxListed)
    .map(({ id, title }) => `${id} (${truncateEnd(title, maxTitleColumns)})`);
  const more = open.length > maxListed ? ` and ${open.length - maxListed} more` : "";
  return [
    `No port is running, so this edit is refused: in ${project ?? "this project"}, every edit belongs to a port, a named piece of work.`,
    ...(listed.length > 0 ? [`Open ports: ${listed.join(", ")}${more}.`] : []),
    `If you know which work this is, run ${suggestions.length === 1 ? "this command" : "one of these commands"} and try again. Otherwise ask the user.`,
    ...suggestions.map((line) => `  ${line}`),
  ].join("\n");
}

function createNotifications(
  { edit, isStart, active, settings }: GuardQuestion,
  isUntracked: boolean,
  [action]: readonly string[],
): HookOutput["notifications"] {
  if (isUntracked) {
    const isStrict = settings.mode === "strict";
    return [
      {
        level: isStrict ? "error" : "warn",
        title: isStrict ? "Edit refused" : "Edit without a port",
        message: `No port is running${edit?.path ? `: ${edit.path}` : ""}`,
        ...(action === undefined ? {} : { action }),
      },
    ];
  }
  if (!isStart || active === null || settings.mode === "off") return [];
  return [{ level: "info", title: "Port", message: formatPort(active) }];
}

const formatPort = ({ id, title, open_dependencies }: PortSummary): string =>
  `${id}: ${title}${open_dependencies.length === 0 ? "" : ` (depends on ${open_dependencies.join(", ")}, not ended yet)`}`;

/** Only what the settings ask for. */
function createAnswers(
  { edit, isStart, active, settings, command }: GuardQuestion,
  isUntracked: boolean,
): Partial<Pick<HookOutput["metadata"], "additional_context" | "system_message">> {
  if (settings.mode === "off") return {};
  if (edit !== null) {
    const isShown = isUntracked && settings.messages && settings.mode === "warn";
    return isShown ? { system_message: "beckon: no port is running, so this edit belongs to none" } : {};
  }
  if (!isStart) return {};
  const none =
    settings.mode === "strict"
      ? `No port is running. Edits are refused until one runs: ${command} port list, ${command} port start ID`
      : "No port is running.";
  const message = active ? `Running port ${formatPort(active)}` : none;
  return {
    ...(settings.context ? { additional_context: message } : {}),
    ...(settings.messages ? { system_message: `beckon: ${message}` } : {}),
  };
}
