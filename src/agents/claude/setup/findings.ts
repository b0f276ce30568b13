/** What doctor says about Claude Code itself and about beckon's hooks in its settings. */
import { formatCount, formatList } from "../../../core/text/words.ts";
import type { OwnHook } from "../../../settings-file/hooks.ts";
import type { Scope } from "../../agent.ts";
import { createFindings, type Finding } from "../../finding.ts";
import type { ProgramStatus } from "../../setup/called-program.ts";
import { eventsKnownTo, type HookEntry, hookTable, isAtLeast } from "../hooks.ts";
import type { ListedSession } from "../list-sessions.ts";

export const agentLink = "Claude Code";
const programFinding = createFindings(agentLink, "claude");
const hookFinding = createFindings("hooks", "hooks");

export interface ProgramFacts {
  readonly path: string | null;
  /** As `claude --version` prints it. null if it printed none. */
  readonly version: string | null;
}

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

export function findProgramFindings({ path, version }: ProgramFacts): Finding[] {
  if (path === null) {
    return [
      programFinding(
        "warn",
        "not-found",
        "Claude Code was not found on this machine",
        "Install it, or put the folder with `claude` on your PATH. Then: beckon --install",
      ),
    ];
  }
  if (version === null) {
    return [
      programFinding(
        "warn",
        "version",
        `${path} does not print its version: beckon assumes ${hookTable.assumedVersion}, the oldest version it was tried with`,
        `Try it yourself: ${path} --version`,
      ),
    ];
  }
  return [programFinding("ok", "found", `${version} at ${path}`), ...findLacking(version)];
}

function findLacking(version: string): Finding[] {
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

/** One settings file as doctor sees it. */
export interface SettingsFacts {
  readonly scope: Scope | "managed";
  readonly path: string;
  /** Why it could not be read or parsed. null if it could. */
  readonly problem: string | null;
  readonly own: readonly OwnHook[];
  /** Events of hooks that name beckon but are not beckon's own. */
  readonly customEvents: readonly string[];
  readonly disablesAll: boolean;
  readonly managedOnly: boolean;
}

/** A program that registered commands call. */
export interface CalledProgram {
  readonly commands: ReadonlySet<string>;
  readonly binary: string;
  /** The state folder that it writes to. */
  readonly state: string;
  readonly status: ProgramStatus;
  /** null if it was not asked, or did not print one. */
  readonly version: string | null;
}

export interface HookFacts {
  /** The settings files that exist. */
  readonly files: readonly SettingsFacts[];
  readonly called: readonly CalledProgram[];
  /** beckon's own plugin, if it is enabled: `beckon@somewhere`. */
  readonly plugin: string | null;
  readonly wanted: readonly HookEntry[];
  /** The events of the hook table that the CLI knows. */
  readonly known: ReadonlySet<string>;
  /** True if the CLI refuses a whole settings file for one event that it does not know. */
  readonly isStrict: boolean;
  /** This beckon's version and state folder. */
  readonly version: string;
  readonly state: string;
}

export function findHookFindings(facts: HookFacts): Finding[] {
  const { files, plugin } = facts;
  const unreadable = files.filter(({ problem }) => problem !== null).map(createUnreadable);
  const withOwn = files.filter((file) => file.own.length > 0);
  const registered = withOwn.flatMap((file) => findIncomplete(file, facts));
  // A file that cannot be read may have beckon's hooks. It is reported as unreadable already.
  const isUnknown = files.some(({ scope, problem }) => scope === "user" && problem !== null);
  if (withOwn.length === 0 && (!isUnknown || plugin !== null)) {
    registered.push(
      plugin === null
        ? hookFinding("fail", "none", "not registered: Claude Code does not call beckon", install)
        : hookFinding("ok", "plugin", `registered by the plugin ${plugin}`),
    );
  }
  return [
    ...unreadable,
    ...registered,
    ...findSwitchedOff(files),
    ...facts.called.flatMap((called) => findWrongProgram(called, facts)),
    ...findDuplicates(withOwn, plugin),
    ...files.flatMap(findCustom),
  ];
}

function createUnreadable({ path, problem }: SettingsFacts): Finding {
  const fix = "Correct it: until then Claude Code uses none of it, and beckon does not change it";
  return hookFinding("fail", "unreadable", `${path}: ${problem}`, fix);
}

function findIncomplete({ path, own }: SettingsFacts, { wanted, known, isStrict }: HookFacts): Finding[] {
  const registered = new Map(own.map((hook) => [hook.event, hook]));
  const missing = wanted.filter(({ event }) => !registered.has(event)).map(({ event }) => event);
  const older = wanted
    .filter((entry) => isOlder(entry, registered.get(entry.event)))
    .map(({ event }) => event);
  const wantedEvents = new Set<string>(wanted.map(({ event }) => event));
  const extra = [...registered.keys()].filter((event) => !wantedEvents.has(event));
  const harmful = hookTable.never.filter(({ event }) => extra.includes(event));
  const tooNew = extra.filter(
    (event) => !known.has(event) && hookTable.register.some((row) => row.event === event),
  );
  const unused = extra.filter(
    (event) => !tooNew.includes(event) && !harmful.some((row) => row.event === event),
  );
  const count = wanted.length - missing.length;
  return [
    missing.length === 0
      ? hookFinding("ok", "registered", `all ${formatCount(count, "event")} registered in ${path}`)
      : hookFinding(
          missing.includes("PermissionRequest") || missing.includes("Notification") ? "fail" : "warn",
          "missing",
          `${count} of ${formatCount(wanted.length, "event")} registered in ${path}: ${formatList(missing)} missing`,
          install,
        ),
    ...(older.length > 0
      ? [
          hookFinding(
            "warn",
            "older",
            `registered as an older beckon did in ${path}: ${formatList(older)}`,
            install,
          ),
        ]
      : []),
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
    ...(unused.length > 0
      ? [hookFinding("warn", "unused", `not needed in ${path}: ${formatList(unused)}`, install)]
      : []),
  ];
}

function isOlder(wanted: HookEntry, registered: OwnHook | undefined): boolean {
  if (!registered) return false;
  const isNarrower = (registered.matcher ?? "") !== (wanted.matcher ?? "") && registered.matcher !== "*";
  return registered.timeout !== wanted.timeout || registered.async !== wanted.async || isNarrower;
}

function findSwitchedOff(files: readonly SettingsFacts[]): Finding[] {
  return files.flatMap(({ path, scope, disablesAll, managedOnly }) => [
    ...(disablesAll
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
    ...(managedOnly && scope === "managed"
      ? [
          hookFinding(
            "fail",
            "managed-only",
            `${path} allows only its own hooks (allowManagedHooksOnly)`,
            "Ask your administrator to add beckon's hooks there",
          ),
        ]
      : []),
  ]);
}

function findWrongProgram(called: CalledProgram, facts: HookFacts): Finding[] {
  const { binary, status, version, state } = called;
  const { callers, lost } = describeCallers(called, facts);
  if (status === "missing") {
    return [hookFinding("fail", "gone", `${callers} ${binary}, which is not there: ${lost}`, install)];
  }
  if (status === "not executable") {
    const text = `${callers} ${binary}, which is not executable: ${lost}`;
    return [hookFinding("fail", "not-executable", text, `chmod +x '${binary}'`)];
  }
  return [
    ...(version !== null && version !== facts.version
      ? [
          hookFinding(
            "warn",
            "other-version",
            `the hooks call beckon ${version} at ${binary}; this one is ${facts.version}`,
            "Run beckon --install with the one that you want to keep",
          ),
        ]
      : []),
    ...(state !== facts.state
      ? [
          hookFinding(
            "warn",
            "other-folder",
            `the hooks call the beckon that uses ${state}, not ${facts.state}`,
            "Run doctor with the same BECKON_HOME as beckon --install, or install again",
          ),
        ]
      : []),
  ];
}

/** Names the events whose command does not work, unless it is all of them. */
function describeCallers(
  { commands }: CalledProgram,
  { files, called }: HookFacts,
): { readonly callers: string; readonly lost: string } {
  const own = files.flatMap((file) => file.own);
  const isBroken = (hook: OwnHook) =>
    called.some((program) => program.commands.has(hook.command) && program.status !== "ok");
  const events = [...new Set(own.filter((hook) => commands.has(hook.command)).map(({ event }) => event))];
  if (events.length === 0 || own.every(isBroken))
    return { callers: "the hooks call", lost: "nothing reaches beckon" };
  const isOne = events.length === 1;
  return {
    callers: `${formatList(events)} ${isOne ? "calls" : "call"}`,
    lost: `${isOne ? "that event is" : "those events are"} lost`,
  };
}

const costsTwice = "The events count once, but cost twice.";

function findDuplicates(files: readonly SettingsFacts[], plugin: string | null): Finding[] {
  const findings = files.flatMap(({ path, own }) => {
    const seen = new Set<string>();
    const repeated = own.filter(({ event, matcher }) => {
      const key = `${event} ${matcher ?? ""}`;
      return seen.has(key) || !seen.add(key);
    });
    const events = [...new Set(repeated.map(({ event }) => event))];
    return events.length === 0
      ? []
      : [hookFinding("warn", "twice", `twice in ${path}: ${formatList(events)}`, `${costsTwice} ${install}`)];
  });
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
function hasSameCommands(files: readonly SettingsFacts[]): boolean {
  const byEvent = Map.groupBy(
    files.flatMap(({ own }) => own),
    ({ event }) => event,
  );
  return [...byEvent.values()].every((hooks) => new Set(hooks.map(({ command }) => command)).size === 1);
}

function findCustom({ path, customEvents }: SettingsFacts): Finding[] {
  if (customEvents.length === 0) return [];
  const events = formatList([...new Set(customEvents)]);
  const text = `${path} also has hooks of your own that call beckon, for ${events}: left alone`;
  return [hookFinding("info", "around", text)];
}
