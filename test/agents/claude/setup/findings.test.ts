/** What doctor says about Claude Code and the hooks in its settings. */
import { describe, expect, test } from "bun:test";
import { hooksFor, hookTable } from "../../../../src/agents/claude/hooks.ts";
import {
  explainExtra,
  findLacking,
  findMore,
  findSessionFindings,
} from "../../../../src/agents/claude/setup/findings.ts";
import { createFindings, type Finding } from "../../../../src/agents/finding.ts";
import type { RegisteredFile } from "../../../../src/agents/setup/called-program.ts";
import {
  compareHooks,
  findHookFindings,
  findProgramFinding,
  type HookFacts,
} from "../../../../src/agents/setup/findings.ts";
import type { OwnHook } from "../../../../src/user-files/hooks.ts";

const brief = (findings: readonly Finding[]) => findings.map(({ state, id }) => `${state} ${id}`);
const only = (findings: readonly Finding[], id: string) => {
  const found = findings.find((finding) => finding.id === id);
  if (!found) throw new Error(`no ${id} in ${brief(findings)}`);
  return found;
};

const agent = {
  name: "Claude Code",
  program: "claude",
  assumedVersion: hookTable.assumedVersion,
  programFinding: createFindings("Claude Code", "claude"),
  hookFinding: createFindings("hooks", "hooks"),
};

const findProgramFindings = ({ path, version }: { path: string | null; version: string | null }) => {
  const program = path !== null && version !== null ? { path, version } : null;
  const search = { program, silent: path !== null && version === null ? [path] : [] };
  return [findProgramFinding(agent, search), ...(version === null ? [] : findLacking(version))];
};

describe("Claude Code", () => {
  test.each([
    ["2.1.325", ["ok claude.found"]],
    ["2.1.200", ["ok claude.found"]],
    ["2.1.199", ["ok claude.found", "info claude.no-status"]],
    ["2.1.100", ["ok claude.found", "info claude.lacks", "info claude.no-status"]],
    ["2.0.44", ["ok claude.found", "warn claude.no-requests", "info claude.lacks", "info claude.no-status"]],
    [null, ["warn claude.version"]],
  ])("version %s", (version, says) => {
    expect(brief(findProgramFindings({ path: "/usr/bin/claude", version }))).toEqual(says);
  });

  test("what an old version lacks is described without the names of events", () => {
    const { text, fix } = only(findProgramFindings({ path: "/c", version: "2.0.76" }), "claude.lacks");
    expect(text).toBe(
      "with this version beckon does not see that a question was answered by another hook, calls that auto mode refused, what MCP servers ask you, that a turn ended with an error, the end of compaction, its setup, how many tasks it has and which tasks are done",
    );
    expect(fix).toBe("Update Claude Code: claude update");
  });

  test("if it is not installed, doctor says what to do", () => {
    expect(findProgramFindings({ path: null, version: null })).toMatchObject([
      { state: "warn", fix: expect.stringContaining("beckon --install") },
    ]);
  });
});

const version = "2.1.325";
const command = "{ cd / && '/home/ann/.local/bin/beckon' hook claude; } 2>/dev/null; exit 0";
const registered = (more: Partial<OwnHook> = {}, cli = version): OwnHook[] =>
  hooksFor(cli).map(({ event, timeout, async }) => ({
    event,
    matcher: null,
    command,
    timeout,
    async,
    ...more,
  }));
const called = {
  binary: "/home/ann/.local/bin/beckon",
  state: "/s",
  version: "1.0.0",
  events: registered().map(({ event }) => event),
};
interface FileFacts extends Omit<RegisteredFile, "own" | "text"> {
  readonly own: readonly OwnHook[];
  readonly settings: object;
}
/** Its text has only `settings`. */
const file = (more: Partial<FileFacts> = {}): RegisteredFile => {
  const { own = registered(), settings = {}, ...others } = more;
  return {
    scope: "user",
    path: "~/.claude/settings.json",
    problem: null,
    text: JSON.stringify(settings),
    own: own.map((hook) => ({ binary: called.binary, home: null, hook })),
    ...others,
  };
};
/** `cli`: the version that reads the settings. */
interface LookOptions extends HookFacts {
  readonly cli: string;
}
const look = ({ cli = version, ...more }: Partial<LookOptions> = {}) => {
  const facts: HookFacts = {
    files: [file()],
    called: [{ ...called, status: "ok" }],
    plugin: null,
    version: "1.0.0",
    state: "/s",
    ...more,
  };
  const examineFile = (one: RegisteredFile) =>
    compareHooks(agent.hookFinding, one, hooksFor(cli), explainExtra(cli));
  return [...findHookFindings(agent, facts, examineFile), ...findMore(facts.files, facts.plugin)];
};

describe("hooks", () => {
  test("all registered once, in a file that is named", () => {
    expect(look()).toEqual([
      {
        id: "hooks.registered",
        link: "hooks",
        state: "ok",
        text: "all 18 events registered in ~/.claude/settings.json",
        fix: null,
      },
    ]);
  });

  const without = (...events: string[]) => registered().filter(({ event }) => !events.includes(event));
  const localFile = { scope: "local", path: ".claude/settings.local.json" } as const;
  const local = file(localFile);
  const mixed = registered().map((hook) =>
    hook.async ? { ...hook, command: "'/usr/bin/env' '/opt/beckon' 'hook' 'claude'" } : hook,
  );
  const other = file({ ...localFile, own: registered({ command: "/opt/beckon hook claude" }) });
  const around = { hooks: [{ type: "command", command: "/opt/beckon hook claude | tee log" }] };
  const extra = (event: string) => [...registered(), { ...registered()[0], event } as OwnHook];
  /** The settings were written for 2.1.199, and another version reads them. */
  const olderCli = (cli: string): Partial<LookOptions> => ({
    files: [file({ own: registered({}, "2.1.199") })],
    cli,
  });
  const cases: [string, Partial<LookOptions>, string[]][] = [
    ["none", { files: [], called: [] }, ["fail hooks.none"]],
    ["none, but the plugin", { files: [], called: [], plugin: "beckon@here" }, ["ok hooks.plugin"]],
    ["one of low importance missing", { files: [file({ own: without("Setup") })] }, ["warn hooks.missing"]],
    ["the asks missing", { files: [file({ own: without("PermissionRequest") })] }, ["fail hooks.missing"]],
    [
      "of an older beckon",
      { files: [file({ own: registered({ timeout: 60 }) })] },
      ["ok hooks.registered", "warn hooks.older"],
    ],
    [
      "for one tool only",
      { files: [file({ own: registered({ matcher: "Bash" }) })] },
      ["ok hooks.registered", "warn hooks.older"],
    ],
    [
      "WorktreeCreate",
      { files: [file({ own: extra("WorktreeCreate") })] },
      ["ok hooks.registered", "fail hooks.harmful"],
    ],
    [
      "an event of no use",
      { files: [file({ own: extra("ConfigChange") })] },
      ["ok hooks.registered", "warn hooks.unused"],
    ],
    [
      "an event that prints lines at every /compact",
      { files: [file({ own: extra("PreCompact") })] },
      ["ok hooks.registered", "warn hooks.unused"],
    ],
    [
      "events that a strict old version does not know",
      olderCli("2.1.100"),
      ["ok hooks.registered", "fail hooks.too-new"],
    ],
    [
      "events that a newer version ignores",
      olderCli("2.1.110"),
      ["ok hooks.registered", "warn hooks.too-new"],
    ],
    [
      "switched off",
      { files: [file({ settings: { disableAllHooks: true } })] },
      ["ok hooks.registered", "fail hooks.disabled"],
    ],
    [
      "switched off by the administrator",
      {
        files: [
          file(),
          file({
            ...{ scope: "managed", path: "/etc/m.json", own: [] },
            settings: { allowManagedHooksOnly: true },
          }),
        ],
      },
      ["ok hooks.registered", "fail hooks.managed-only"],
    ],
    [
      "allowManagedHooksOnly in the user's own file means nothing",
      { files: [file({ settings: { allowManagedHooksOnly: true } })] },
      ["ok hooks.registered"],
    ],
    [
      "twice in one file",
      { files: [file({ own: [...registered(), ...registered()] })] },
      ["ok hooks.registered", "warn hooks.twice"],
    ],
    [
      "in two files, the same command",
      { files: [file(), local] },
      ["ok hooks.registered", "ok hooks.registered", "info hooks.scopes"],
    ],
    [
      "in two files, the same commands, some without a shell",
      { files: [file({ own: mixed }), file({ ...localFile, own: mixed })] },
      ["ok hooks.registered", "ok hooks.registered", "info hooks.scopes"],
    ],
    [
      "in two files, two commands",
      { files: [file(), other] },
      ["ok hooks.registered", "ok hooks.registered", "warn hooks.scopes"],
    ],
    ["the plugin as well", { plugin: "beckon@here" }, ["ok hooks.registered", "warn hooks.plugin-too"]],
    [
      "a program that is gone",
      { called: [{ ...called, status: "missing" }] },
      ["ok hooks.registered", "fail hooks.gone"],
    ],
    [
      "a program that is not executable",
      { called: [{ ...called, status: "not executable" }] },
      ["ok hooks.registered", "fail hooks.not-executable"],
    ],
    [
      "another version",
      { called: [{ ...called, status: "ok", version: "0.9.0" }] },
      ["ok hooks.registered", "warn hooks.other-version"],
    ],
    [
      "another state folder",
      { called: [{ ...called, status: "ok", state: "/elsewhere" }] },
      ["ok hooks.registered", "warn hooks.other-folder"],
    ],
    [
      "a file that cannot be parsed",
      { files: [file({ own: [], problem: "line 3, column 5: a comma is missing" })], called: [] },
      ["fail hooks.unreadable"],
    ],
    [
      "hooks of the user's own that call beckon",
      { files: [file({ settings: { hooks: { Stop: [around, around] } } })] },
      ["ok hooks.registered", "info hooks.around"],
    ],
  ];
  test.each(cases)("%s", (_, facts, says) => expect(brief(look(facts))).toEqual(says));

  const oneBroken = (...events: string[]) => {
    const astray = "/nowhere/beckon hook claude";
    const own = registered().map((hook) =>
      events.includes(hook.event) ? { ...hook, command: astray } : hook,
    );
    const broken = { ...called, events, binary: "/nowhere/beckon", status: "missing" as const };
    const working = { ...called, events: called.events.filter((event) => !events.includes(event)) };
    return look({ files: [file({ own })], called: [{ ...working, status: "ok" }, broken] });
  };

  test("a broken hook among working ones is named by its event", () => {
    expect(only(oneBroken("PermissionRequest"), "hooks.gone").text).toBe(
      "PermissionRequest calls /nowhere/beckon, which is not there: that event is lost",
    );
    expect(only(oneBroken("Stop", "PermissionRequest"), "hooks.gone").text).toMatch(
      /^\w+ and \w+ call \/nowhere\/beckon, which is not there: those events are lost$/,
    );
    const all = look({ called: [{ ...called, status: "missing" }] });
    expect(only(all, "hooks.gone").text).toContain("the hooks call /home/ann/.local/bin/beckon, which");
    expect(only(all, "hooks.gone").text).toEndWith("nothing reaches beckon");
  });

  test("a file that cannot be read does not count as one without hooks", () => {
    const found = look({ files: [file({ own: [], problem: "line 3, column 5: oops" })], called: [] });
    expect(brief(found)).toEqual(["fail hooks.unreadable"]);
    const project = file({ scope: "project", own: [], problem: "line 3, column 5: oops" });
    expect(brief(look({ files: [project], called: [] }))).toEqual([
      "fail hooks.unreadable",
      "fail hooks.none",
    ]);
  });

  test("every problem is one line and has a fix", () => {
    for (const [, facts] of cases) {
      for (const { state, text, fix } of look(facts)) {
        expect(text).not.toContain("\n");
        if (state === "fail" || state === "warn") expect(fix).not.toBeNull();
      }
    }
  });
});

describe("the sessions that the CLI lists", () => {
  const listed = ["a", "b"].map((sessionId) => ({ sessionId }));
  test("none", () => {
    expect(findSessionFindings([], new Set(["a"]))).toEqual([]);
  });
  test("all shown", () => {
    expect(findSessionFindings(listed, new Set(["a", "b", "c"]))).toMatchObject([
      { id: "claude.sessions", state: "ok", text: "beckon shows the 2 sessions that Claude Code lists" },
    ]);
  });
  test("one is not", () => {
    expect(findSessionFindings(listed, new Set(["a"]))).toMatchObject([
      {
        id: "claude.sessions-missing",
        state: "warn",
        text: "beckon does not show 1 of the 2 sessions that Claude Code lists: b",
      },
    ]);
  });
});
