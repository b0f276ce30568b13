/** What doctor says about an agent's program, and about beckon's entries in the agent's files. */
import { formatCount, formatList } from "../../core/text/words.ts";
import type { HookForm, OwnHook } from "../../user-files/hooks.ts";
import type { ProgramSearch, Registration } from "../agent.ts";
import type { CreateFinding, Finding } from "../finding.ts";
import type { CalledProgram, RegisteredFile } from "./called-program.ts";

const install = "Run: beckon --install";

/** An agent and how its findings are created. */
export interface ExaminedAgent {
  readonly name: string;
  /** The name of its program. */
  readonly program: string;
  /** The version that install assumes if the program prints none. null if it does not matter. */
  readonly assumedVersion: string | null;
  readonly programFinding: CreateFinding;
  readonly hookFinding: CreateFinding;
}

/** For install: whether the program was found. `version` is the one that the last install found. */
export function describeProgram(
  { name, assumedVersion }: Pick<ExaminedAgent, "name" | "assumedVersion">,
  { program, silent: [silent] }: ProgramSearch,
  version: string | null,
): readonly string[] {
  if (program) return [`Found ${name} ${program.version} at ${program.path}.`];
  const problem =
    silent === undefined
      ? `${name} was not found`
      : `Found ${name} at ${silent}, but it did not print its version`;
  if (assumedVersion === null) return [`${problem}.`];
  if (version !== null) return [`${problem}: beckon assumes ${version}, as at the last install.`];
  const next = silent === undefined ? `once ${name} is installed` : "later";
  return [
    `${problem}: beckon registers the hooks that ${assumedVersion} and later know. Run this again ${next}, to register them all.`,
  ];
}

/** `search` is null if it took too long. */
export function findProgramFinding(
  { name, program: command, assumedVersion, programFinding }: ExaminedAgent,
  search: ProgramSearch | null,
): Finding {
  if (search?.program) {
    const { path, version } = search.program;
    return programFinding("ok", "found", `${version} at ${path}`);
  }
  const [silent] = search?.silent ?? [];
  if (silent !== undefined) {
    const assumed =
      assumedVersion === null
        ? ""
        : `: beckon assumes ${assumedVersion}, the oldest version it was tried with`;
    const text = `${silent} did not print its version${assumed}`;
    return programFinding("warn", "version", text, `Try it yourself: ${silent} --version`);
  }
  const fix = `Install it, or put the folder with \`${command}\` on your PATH. Then: beckon --install`;
  return programFinding("warn", "not-found", `${name} was not found on this machine`, fix);
}

export interface HookFacts {
  /** The settings files that exist. */
  readonly files: readonly RegisteredFile[];
  readonly called: readonly CalledProgram[];
  /** beckon's own plugin for the agent, if the user has installed it: `beckon@somewhere`. */
  readonly plugin: string | null;
  /** This beckon's version and state folder. */
  readonly version: string;
  readonly state: string;
}

/** `examineFile` compares the entries of a file with those that install would write. */
export function findHookFindings(
  { name, hookFinding }: Pick<ExaminedAgent, "name" | "hookFinding">,
  facts: HookFacts,
  examineFile: (file: RegisteredFile) => readonly Finding[],
): Finding[] {
  const { files, plugin } = facts;
  const fix = "Correct it: until then its hooks may not run, and beckon does not change it";
  const findings = files
    .filter(({ problem }) => problem !== null)
    .map(({ path, problem }) => hookFinding("fail", "unreadable", `${path}: ${problem}`, fix));
  const registered = files.filter(({ own }) => own.length > 0);
  findings.push(...registered.flatMap(examineFile));
  // A file that cannot be read may have beckon's hooks. It is reported as unreadable already.
  const isUnknown = files.some(({ scope, problem }) => scope === "user" && problem !== null);
  if (registered.length === 0 && (!isUnknown || plugin !== null)) {
    findings.push(
      plugin === null
        ? hookFinding("fail", "none", `not registered: ${name} does not call beckon`, install)
        : hookFinding("ok", "plugin", `registered by the plugin ${plugin}`),
    );
  }
  return [
    ...findings,
    ...facts.called.flatMap((called) => findWrongProgram(hookFinding, called, facts)),
    ...registered.flatMap((file) => findRepeated(hookFinding, file)),
  ];
}

/** Events that install would not register. The agent explains some of them; the others are not needed. */
export type ExplainExtra = (
  events: readonly string[],
  path: string,
) => { readonly explained: ReadonlySet<string>; readonly findings: readonly Finding[] };

const explainNothing: ExplainExtra = () => ({ explained: new Set(), findings: [] });

/** Compares the hooks of a file with those that install would write. */
export function compareHooks(
  finding: CreateFinding,
  { path, own }: RegisteredFile,
  wanted: readonly HookForm[],
  explainExtra = explainNothing,
): Finding[] {
  const registered = new Map(own.flatMap(({ hook }) => (hook ? [[hook.event, hook] as const] : [])));
  const missing = wanted.filter(({ event }) => !registered.has(event)).map(({ event }) => event);
  const differing = wanted
    .filter((hook) => isDifferent(hook, registered.get(hook.event)))
    .map(({ event }) => event);
  const wantedEvents = new Set(wanted.map(({ event }) => event));
  const extra = [...registered.keys()].filter((event) => !wantedEvents.has(event));
  const { explained, findings } = explainExtra(extra, path);
  const unused = extra.filter((event) => !explained.has(event));
  const count = wanted.length - missing.length;
  return [
    missing.length === 0
      ? finding("ok", "registered", `all ${formatCount(count, "event")} registered in ${path}`)
      : finding(
          missing.includes("PermissionRequest") || missing.includes("Notification") ? "fail" : "warn",
          "missing",
          `${count} of ${formatCount(wanted.length, "event")} registered in ${path}: ${formatList(missing)} missing`,
          install,
        ),
    ...(differing.length > 0
      ? [finding("warn", "older", `${describeOlder(path)}: ${formatList(differing)}`, install)]
      : []),
    ...findings,
    ...(unused.length > 0
      ? [finding("warn", "unused", `not needed in ${path}: ${formatList(unused)}`, install)]
      : []),
  ];
}

const describeOlder = (path: string): string => `registered as another version of beckon did in ${path}`;

function isDifferent(wanted: HookForm, registered: OwnHook | undefined): boolean {
  if (!registered) return false;
  const isNarrower = (registered.matcher ?? "") !== (wanted.matcher ?? "") && registered.matcher !== "*";
  const isSame =
    registered.timeout === wanted.timeout &&
    registered.async === wanted.async &&
    registered.name === wanted.name;
  return !isSame || isNarrower;
}

/** For a file that is compared as a whole. `current` is null if install would change it. */
export function createWholeFinding(
  finding: CreateFinding,
  path: string,
  current: Pick<Registration, "count" | "noun"> | null,
): Finding {
  return current === null
    ? finding("warn", "older", describeOlder(path), install)
    : finding("ok", "registered", `${formatCount(current.count, current.noun)} registered in ${path}`);
}

function findWrongProgram(finding: CreateFinding, called: CalledProgram, facts: HookFacts): Finding[] {
  const { binary, status, version, state } = called;
  if (status !== "ok") {
    const { callers, lost } = describeCallers(called, facts.called);
    return status === "missing"
      ? [finding("fail", "gone", `${callers} ${binary}, which is not there: ${lost}`, install)]
      : [
          finding(
            "fail",
            "not-executable",
            `${callers} ${binary}, which is not executable: ${lost}`,
            `chmod +x '${binary}'`,
          ),
        ];
  }
  return [
    ...(version !== null && version !== facts.version
      ? [
          finding(
            "warn",
            "other-version",
            `the hooks call beckon ${version} at ${binary}; this one is ${facts.version}`,
            "Run beckon --install with the one that you want to keep",
          ),
        ]
      : []),
    ...(state !== facts.state
      ? [
          finding(
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
  { events }: CalledProgram,
  called: readonly CalledProgram[],
): { readonly callers: string; readonly lost: string } {
  if (events.length === 0 || called.every(({ status }) => status !== "ok"))
    return { callers: "the hooks call", lost: "nothing reaches beckon" };
  const isOne = events.length === 1;
  return {
    callers: `${formatList(events)} ${isOne ? "calls" : "call"}`,
    lost: `${isOne ? "that event is" : "those events are"} lost`,
  };
}

export const costsTwice = "The events count once, but cost twice.";

function findRepeated(finding: CreateFinding, { path, own }: RegisteredFile): readonly Finding[] {
  const seen = new Set<string>();
  const repeated = own.flatMap(({ hook }) => {
    const key = `${hook?.event} ${hook?.matcher ?? ""}`;
    return hook && (seen.has(key) || !seen.add(key)) ? [hook.event] : [];
  });
  if (repeated.length === 0) return [];
  const events = formatList([...new Set(repeated)]);
  return [finding("warn", "twice", `twice in ${path}: ${events}`, `${costsTwice} ${install}`)];
}
