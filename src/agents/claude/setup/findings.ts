/** Doctor's findings that only Claude Code has. */
import { asRecord, parseJson } from "../../../core/json.ts";
import { formatCount, formatList } from "../../../core/text/words.ts";
import { listHooks, mentionsBeckon } from "../../../user-files/hook-command.ts";
import { createFindings, type Finding } from "../../finding.ts";
import type { RegisteredFile } from "../../setup/called-program.ts";
import { costsTwice, type ExplainExtra } from "../../setup/findings.ts";
import { eventsKnownTo, hookTable, isAtLeast } from "../hooks.ts";
import type { ListedSession } from "../list-sessions.ts";

export const agentName = "Claude Code";
export const hookPrefix = "hooks";
const programFinding = createFindings(agentName, "claude");
const hookFinding = createFindings("hooks", hookPrefix);

const update = "Update Claude Code: claude update";
const install = "Run: beckon --install";

/** What beckon does not see if the CLI lacks an event. Read it after "beckon does not see". */
const missedWithout: Readonly<Record<string, string>> = {
  PostToolUseFailure: "tools that failed",
  PostToolBatch: "that a question was answered by another hook",
  PermissionDenied: "calls that auto mode refused",
  Elicitation: "what MCP servers ask you",
  StopFailure: "that a turn ended with an error",
  SubagentStart: "subagents as they start",
  PostCompact: "the end of compaction",
  Setup: "its setup",
  TaskCreated: "how many tasks it has",
  TaskCompleted: "which tasks are done",
};

/** `known`: the ids of the sessions that beckon shows as running. */
export function findSessionFindings(
  listed: readonly Pick<ListedSession, "sessionId">[],
  known: ReadonlySet<string>,
): Finding[] {
  if (listed.length === 0) return [];
  const missing = listed.filter(({ sessionId }) => !known.has(sessionId));
  const count = formatCount(listed.length, "session");
  if (missing.length === 0)
    return [programFinding("ok", "sessions", `beckon shows the ${count} that Claude Code lists`)];
  const ids = formatList(missing.slice(0, maxMissing).map(({ sessionId }) => sessionId));
  return [
    programFinding(
      "warn",
      "sessions-missing",
      `beckon does not show ${missing.length} of the ${count} that Claude Code lists: ${ids}`,
      "Is beckon started with the same CLAUDE_CONFIG_DIR? To read the sessions again: beckon restart",
    ),
  ];
}

const maxMissing = 5;

/** What beckon does not see with this version. */
export function findLacking(version: string): Finding[] {
  const known = eventsKnownTo(version);
  const missing = hookTable.register.map(({ event }) => event).filter((event) => !known.has(event));
  const missed = missing.flatMap((event) => missedWithout[event] ?? []);
  return [
    ...(missing.includes("PermissionRequest")
      ? [
          programFinding(
            "warn",
            "no-requests",
            "this version reports that it wants permission only 6 seconds late, and not for what",
            update,
          ),
        ]
      : []),
    ...(missed.length > 0
      ? [
          programFinding(
            "info",
            "lacks",
            `with this version beckon does not see ${formatList(missed)}`,
            update,
          ),
        ]
      : []),
    ...(isAtLeast(version, hookTable.statusFileSince)
      ? []
      : [
          programFinding(
            "info",
            "no-status",
            "this version keeps no status file: after Esc or “No” a session seems to wait or work until its next event",
            update,
          ),
        ]),
  ];
}

/** From this version on, an event that the CLI does not know costs only its own hook. */
const tolerantSince = "2.1.101";

/** Hooks that break the session, and those that this version does not know. */
export function explainExtra(version: string | null): ExplainExtra {
  const known = eventsKnownTo(version);
  const isStrict = !isAtLeast(version ?? hookTable.assumedVersion, tolerantSince);
  return (events, path) => {
    const harmful = hookTable.never.filter(({ event }) => events.includes(event));
    const tooNew = events.filter(
      (event) => !known.has(event) && hookTable.register.some((row) => row.event === event),
    );
    return {
      explained: new Set([...harmful.map(({ event }) => event), ...tooNew]),
      findings: [
        ...harmful.map(({ event, why }) =>
          hookFinding("fail", "harmful", `${event} is registered in ${path}: ${why}`, install),
        ),
        ...(tooNew.length > 0
          ? [
              hookFinding(
                isStrict ? "fail" : "warn",
                "too-new",
                `your Claude Code does not know ${formatList(tooNew)} in ${path}${isStrict ? ", and refuses the whole file for it" : ""}`,
                `${install}, or update Claude Code: claude update`,
              ),
            ]
          : []),
      ],
    };
  };
}

/** What keeps hooks from running or makes them run twice, and the user's own hooks around beckon. */
export function findMore(files: readonly RegisteredFile[], plugin: string | null): readonly Finding[] {
  return [
    ...files.flatMap(findSwitchedOff),
    ...findInSeveralPlaces(
      files.filter(({ own }) => own.length > 0),
      plugin,
    ),
    ...files.flatMap(findCustom),
  ];
}

function findSwitchedOff({ path, scope, text }: RegisteredFile): Finding[] {
  const { disableAllHooks, allowManagedHooksOnly } = asRecord(parseJson(text));
  return [
    ...(disableAllHooks === true
      ? [
          hookFinding(
            "fail",
            "disabled",
            `${path} switches all hooks off (disableAllHooks)`,
            scope === "managed"
              ? "Ask your administrator to allow hooks"
              : `Remove "disableAllHooks" from ${path}`,
          ),
        ]
      : []),
    ...(allowManagedHooksOnly === true && scope === "managed"
      ? [
          hookFinding(
            "fail",
            "managed-only",
            `${path} allows only its own hooks (allowManagedHooksOnly)`,
            "Ask your administrator to add beckon's hooks there",
          ),
        ]
      : []),
  ];
}

function findInSeveralPlaces(files: readonly RegisteredFile[], plugin: string | null): Finding[] {
  const findings: Finding[] = [];
  const [first, ...others] = files;
  if (first && others.length > 0) {
    const paths = formatList(files.map(({ path }) => path));
    findings.push(
      hasSameCommands(files)
        ? hookFinding(
            "info",
            "scopes",
            `registered in ${paths}: the same command, so Claude Code runs it once`,
          )
        : hookFinding(
            "warn",
            "scopes",
            `registered in ${formatCount(files.length, "file")} with different commands: ${paths}`,
            `${costsTwice} Keep one of them: beckon --uninstall, then beckon --install`,
          ),
    );
  }
  if (first && plugin !== null) {
    findings.push(
      hookFinding(
        "warn",
        "plugin-too",
        `both the plugin ${plugin} and ${first.path} call beckon`,
        `${costsTwice} Keep one: /plugin in Claude Code switches it off, or: beckon --uninstall`,
      ),
    );
  }
  return findings;
}

/** Claude Code runs a command once that two of its files register for the same event. */
function hasSameCommands(files: readonly RegisteredFile[]): boolean {
  const hooks = files.flatMap(({ own }) => own.flatMap(({ hook }) => hook ?? []));
  const byEvent = Map.groupBy(hooks, ({ event }) => event);
  return [...byEvent.values()].every((group) => new Set(group.map(({ command }) => command)).size === 1);
}

function findCustom({ path, text }: RegisteredFile): Finding[] {
  const custom = listHooks(parseJson(text)).filter(mentionsBeckon);
  if (custom.length === 0) return [];
  const events = formatList([...new Set(custom.map(({ event }) => event))]);
  const found = `${path} also has hooks of your own that call beckon, for ${events}: left alone`;
  return [hookFinding("info", "around", found)];
}
