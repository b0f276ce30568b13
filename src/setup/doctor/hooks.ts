/** The hooks in the agent's settings: registered, complete, switched on, and leading to a beckon that is there. */
import { type HookEntry, hookTable } from "../../agents/claude/hooks.ts";
import { about, type Finding, listed, plural } from "../../agents/finding.ts";
import type { OwnHook } from "../../settings-file/hooks.ts";
import { duplicates } from "./duplicates.ts";

export interface SettingsFacts {
  readonly scope: "managed" | "local" | "project" | "user";
  readonly path: string;
  /** Why it could not be read or understood. */
  readonly problem: string | null;
  readonly own: readonly OwnHook[];
  /** Events of hooks that name beckon without being ours. */
  readonly around: readonly string[];
  readonly disablesAll: boolean;
  readonly managedOnly: boolean;
}

/** What a registered command leads to. */
export interface Called {
  readonly command: string;
  readonly binary: string;
  /** The state folder that it writes to. */
  readonly state: string;
  readonly found: "ok" | "missing" | "not executable";
  /** null: it was not asked, or did not say. */
  readonly version: string | null;
}

export interface HooksFacts {
  /** Those that exist. */
  readonly files: readonly SettingsFacts[];
  readonly called: readonly Called[];
  /** beckon's own plugin, where it is switched on: `beckon@somewhere`. */
  readonly plugin: string | null;
  readonly wanted: readonly HookEntry[];
  /** Does the CLI refuse a whole settings file for a name it does not know? */
  readonly isStrict: boolean;
  /** This beckon's. */
  readonly version: string;
  readonly state: string;
}

const tell = about("hooks", "hooks");
const install = "Run: beckon --install";

export function hooksFindings(facts: HooksFacts): Finding[] {
  const { files, plugin } = facts;
  const broken = files.filter(({ problem }) => problem !== null).map(unreadable);
  const own = files.filter((file) => file.own.length > 0);
  const registered = own.flatMap((file) => completeness(file, facts));
  // Whether beckon is in a file that cannot be read, nobody knows: the file is named already.
  const isUnknown = files.some(({ scope, problem }) => scope === "user" && problem !== null);
  if (own.length === 0 && (!isUnknown || plugin !== null)) {
    registered.push(
      plugin === null
        ? tell("fail", "none", "not registered: Claude Code does not call beckon", install)
        : tell("ok", "plugin", `registered by the plugin ${plugin}`),
    );
  }
  return [
    ...broken,
    ...registered,
    ...switchedOff(files),
    ...facts.called.flatMap((called) => destination(called, facts)),
    ...duplicates(files, plugin, tell),
    ...files.flatMap(builtAround),
  ];
}

function unreadable({ path, problem }: SettingsFacts): Finding {
  const fix = "Correct it: until then Claude Code takes none of it, and beckon leaves it alone";
  return tell("fail", "unreadable", `${path}: ${problem}`, fix);
}

function completeness(file: SettingsFacts, { wanted, isStrict }: HooksFacts): Finding[] {
  const { path, own } = file;
  const here = new Map(own.map((hook) => [hook.event, hook]));
  const missing = wanted.filter(({ event }) => !here.has(event)).map(({ event }) => event);
  const older = wanted.filter((entry) => isOlder(entry, here.get(entry.event))).map(({ event }) => event);
  const known = new Set<string>(wanted.map(({ event }) => event));
  const extra = [...here.keys()].filter((event) => !known.has(event));
  const harmful = hookTable.never.filter(({ event }) => extra.includes(event));
  const later = extra.filter((event) => hookTable.register.some((row) => row.event === event));
  const unused = extra.filter(
    (event) => !later.includes(event) && !harmful.some((row) => row.event === event),
  );
  const count = wanted.length - missing.length;
  return [
    missing.length === 0
      ? tell("ok", "registered", `all ${plural(count, "event")} registered in ${path}`)
      : tell(
          missing.includes("PermissionRequest") || missing.includes("Notification") ? "fail" : "warn",
          "missing",
          `${count} of ${plural(wanted.length, "event")} registered in ${path}: ${listed(missing)} missing`,
          install,
        ),
    ...(older.length > 0
      ? [tell("warn", "older", `registered as an older beckon did in ${path}: ${listed(older)}`, install)]
      : []),
    ...harmful.map(({ event, why }) =>
      tell("fail", "harmful", `${event} is registered in ${path}: ${why}`, install),
    ),
    ...(later.length > 0
      ? [
          tell(
            isStrict ? "fail" : "warn",
            "too-new",
            `your Claude Code does not know ${listed(later)} in ${path}${isStrict ? ", and refuses the whole file for it" : ""}`,
            `${install}, or update Claude Code: claude update`,
          ),
        ]
      : []),
    ...(unused.length > 0
      ? [tell("warn", "unused", `not needed in ${path}: ${listed(unused)}`, install)]
      : []),
  ];
}

function isOlder(wanted: HookEntry, found: OwnHook | undefined): boolean {
  if (!found) return false;
  const isNarrower = (found.matcher ?? "") !== (wanted.matcher ?? "") && found.matcher !== "*";
  return found.timeout !== wanted.timeout || found.async !== wanted.async || isNarrower;
}

function switchedOff(files: readonly SettingsFacts[]): Finding[] {
  return files.flatMap(({ path, scope, disablesAll, managedOnly }) => [
    ...(disablesAll
      ? [
          tell(
            "fail",
            "disabled",
            `${path} switches all hooks off (disableAllHooks)`,
            scope === "managed"
              ? "Ask whoever runs your machine to allow hooks"
              : `Remove "disableAllHooks" from ${path}`,
          ),
        ]
      : []),
    ...(managedOnly && scope === "managed"
      ? [
          tell(
            "fail",
            "managed-only",
            `${path} allows only its own hooks (allowManagedHooksOnly)`,
            "Ask whoever runs your machine to add beckon's hooks there",
          ),
        ]
      : []),
  ]);
}

function destination(called: Called, facts: HooksFacts): Finding[] {
  const { binary, found, version, state } = called;
  const { who, lost } = sufferers(called, facts);
  if (found === "missing") {
    return [tell("fail", "gone", `${who} ${binary}, which is not there: ${lost}`, install)];
  }
  if (found === "not executable") {
    const text = `${who} ${binary}, which may not be run: ${lost}`;
    return [tell("fail", "not-executable", text, `chmod +x '${binary}'`)];
  }
  return [
    ...(version !== null && version !== facts.version
      ? [
          tell(
            "warn",
            "other-version",
            `the hooks call beckon ${version} at ${binary}; this one is ${facts.version}`,
            "Run beckon --install with the one that you want to keep",
          ),
        ]
      : []),
    ...(state !== facts.state
      ? [
          tell(
            "warn",
            "other-folder",
            `the hooks speak to the beckon of ${state}, not to that of ${facts.state}`,
            "Run doctor with the same BECKON_HOME as beckon --install, or install again",
          ),
        ]
      : []),
  ];
}

/** Whose command leads nowhere: a few events by name, or all there are. */
function sufferers({ command }: Called, { files, called }: HooksFacts): { who: string; lost: string } {
  const own = files.flatMap((file) => file.own);
  const isBroken = (hook: OwnHook) =>
    called.some((one) => one.command === hook.command && one.found !== "ok");
  const events = [...new Set(own.filter((hook) => hook.command === command).map(({ event }) => event))];
  if (events.length === 0 || own.every(isBroken))
    return { who: "the hooks call", lost: "nothing reaches beckon" };
  const few = events.length === 1;
  return {
    who: `${listed(events)} ${few ? "calls" : "call"}`,
    lost: `${few ? "that event is" : "those events are"} lost`,
  };
}

function builtAround({ path, around }: SettingsFacts): Finding[] {
  if (around.length === 0) return [];
  const events = listed([...new Set(around)]);
  return [tell("info", "around", `${path} also calls beckon in a way of its own, for ${events}: left alone`)];
}
