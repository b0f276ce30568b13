import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { detectTerminal } from "../../../src/core/terminals/detect.ts";
import { planFocus, planVisibility } from "../../../src/core/terminals/focus.ts";
import {
  listSentVariables,
  listSessionVariables,
  terminals,
  windowSystems,
} from "../../../src/core/terminals/index.ts";
import type { PlanStep } from "../../../src/core/terminals/plan.ts";
import { recogniseTerminal } from "../../../src/core/terminals/recognise.ts";
import { findTerminalSession, pickTerminalVariables } from "../../../src/core/terminals/sent-variables.ts";
import type { PaneLocation, WindowQuery } from "../../../src/core/terminals/terminal.ts";
import { commonVariables, readVariable, type Shapes } from "../../../src/core/terminals/variables.ts";
import { createAppEnvironment } from "../../../src/system/app-environment.ts";
import { answerNothing, createProcess, locationInside, simulate } from "./simulate.ts";

const shapes: Shapes = Object.assign({}, commonVariables, ...terminals.map(({ variables }) => variables));
const shapedVariables = Object.keys(shapes);

/** Part of every hostile value, and of no value that has the right shape. */
const mark = "☠";

const validValues: Readonly<Record<string, string>> = {
  TMUX: "/tmp/tmux-1000/default,123,0",
  TMUX_PANE: "%3",
  STY: "88.pts-0.host",
  WINDOW: "2",
  ZELLIJ_SESSION_NAME: "brave-tiger",
  ZELLIJ_PANE_ID: "4",
  WINDOWID: "4194311",
  ALACRITTY_WINDOW_ID: "4194311",
  KITTY_WINDOW_ID: "1",
  KITTY_LISTEN_ON: "unix:/tmp/kitty-88",
  WEZTERM_PANE: "5",
  WEZTERM_UNIX_SOCKET: "/run/user/1000/wezterm/gui-sock-88",
  ITERM_SESSION_ID: "w0t1p0:0B9A4F5E-8D2B-4C0F-9B0C-2D6C1C1C7A11",
  GHOSTTY_RESOURCES_DIR: "/usr/share/ghostty",
  TILIX_ID: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11",
  TERMINATOR_UUID: "urn:uuid:0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11",
  CURSOR_TRACE_ID: "0b9a4f5e8d2b4c0f",
  ZELLIJ: "0",
  WARP_FOCUS_URL: "warp://session/0123456789abcdef0123456789abcdef",
  WT_SESSION: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11",
  KONSOLE_DBUS_SERVICE: ":1.42",
  KONSOLE_DBUS_SESSION: "/Sessions/3",
  KONSOLE_DBUS_WINDOW: "/Windows/1",
  GNOME_TERMINAL_SCREEN: "/org/gnome/Terminal/screen/e740e1a1_d14e_4637_a33a_64af6eba1b44",
  __CFBundleIdentifier: "com.microsoft.VSCode",
  SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22",
  WSL_DISTRO_NAME: "Ubuntu-24.04",
};

const tricks = [
  ...[
    `;touch ${mark}`,
    `$(touch ${mark})`,
    `\`${mark}\``,
    `| ${mark}`,
    `&& ${mark}`,
    `\n${mark}`,
    `' ${mark} '`,
  ],
  ...[
    `--exec=${mark}`,
    `-e ${mark}`,
    `" & do shell script "${mark}`,
    `../../${mark}`,
    `%1 ; kill-server ${mark}`,
  ],
  ...[`\0${mark}`, `\u001b]0;${mark}\u0007`, `${mark}`.repeat(300), `#{${mark}}`],
];
const trick = fc.constantFrom(...tricks);
const validValue = (name: string): string => validValues[name] ?? "";
/** Alone, before, behind or inside of a valid value. */
const hostile = (name: string) =>
  fc.tuple(trick, fc.constantFrom("alone", "before", "behind", "inside")).map(([text, where]) => {
    const value = validValue(name);
    if (where === "before") return text + value;
    if (where === "behind") return value + text;
    return where === "inside" ? value.slice(0, 2) + text + value.slice(2) : text;
  });

const variable = (name: string) =>
  fc.oneof(fc.constant(undefined), fc.constant(validValue(name)), hostile(name));
const environments = fc
  .record(Object.fromEntries(shapedVariables.map((name) => [name, variable(name)])))
  .map((env) =>
    Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => !!entry[1])),
  );

const cwds = fc.oneof(
  fc.constant(null),
  fc.constant("/home/ana/shop"),
  trick,
  trick.map((text) => `/home/${text}`),
);
const titles = fc.oneof(fc.constant(null), trick);
const platforms = fc.constantFrom<NodeJS.Platform>("linux", "darwin", "win32");

/** Answers of every kind: none, valid ones, and those of a hostile program. */
const answers = fc.infiniteStream(fc.tuple(fc.nat(5), trick));

function createAnswers(stream: Iterator<[number, string]>): (step: PlanStep) => unknown {
  return (step) => {
    const [kind, text] = stream.next().value as [number, string];
    if (kind === 0) return answerNothing(step);
    return respond(step, kind, text);
  };
}

function respond(step: PlanStep, kind: number, text: string): unknown {
  switch (step.do) {
    case "run":
      return { code: kind === 1 ? 1 : 0, stdout: formatOutput(kind, text), stderr: text };
    case "lineage":
      return [
        createProcess(step.pid, "bash", { tty: "/dev/pts/8" }),
        createProcess(70, kind > 3 ? "xterm" : text),
      ];
    case "console-owner":
      return kind > 3 ? createProcess(67, text) : null;
    case "environment":
      return { TMUX: text, WINDOWID: kind > 3 ? "77" : text, KITTY_LISTEN_ON: `unix:${text}` };
    case "processes":
      return kind > 3 ? [createProcess(66, step.name, { tty: "/dev/pts/9" })] : [];
    case "ttys":
      return ["/dev/pts/9", text];
    case "sockets-of":
    case "own-sockets":
      return step.do === "own-sockets" && kind > 3 ? step.paths.filter((path) => !path.endsWith("/")) : [];
    case "connection-owners":
      return kind > 3 ? [66] : [];
    case "command-line":
      return kind > 3 ? [text, "ssh", text] : [];
    case "dbus":
      return [kind <= 3 ? text : step.call.member === "sessionList" ? [3] : 3];
    case "kitty":
      return kind > 2
        ? [
            {
              platform_window_id: kind,
              tabs: [{ is_active: true, windows: [{ id: 1, pid: 89 }, { id: text }] }],
            },
          ]
        : text;
    case "kwin":
      return kind > 2
        ? [
            { id: text, pid: 88 },
            { id: "{0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11}", pid: 88 },
          ]
        : text;
    case "applescript":
      return kind > 3 ? "found" : text;
    case "windows":
      return [
        { id: "1", pid: 88, title: text, active: true },
        { id: "2", pid: kind > 3 ? 88 : null, title: "", active: false },
      ];
    case "top-level-window":
      return kind > 3 ? step.id : null;
    case "activate":
      return kind > 3;
  }
}

function formatOutput(kind: number, text: string): string {
  const panes = `%3 89 /dev/pts/7 @1 $1 11 ${text}\n%4 5 ${text} @1 $1 11 x\n`;
  const clients = `66 /dev/pts/9 $1 100\n67 ${text} $1 101\n`;
  if (kind === 2) return panes + clients;
  if (kind === 3)
    return JSON.stringify([
      { pane_id: 5, tty_name: "/dev/pts/7", title: text, id: text, address: text, pid: 88 },
    ]);
  return kind === 4 ? JSON.stringify({ id: 9, pid: 88, name: text, nodes: [{ id: text, pid: 88 }] }) : text;
}

/** Every text that a step sends to another program. */
function sentTexts(step: PlanStep): readonly string[] {
  switch (step.do) {
    case "run":
      return [...step.argv, ...Object.values(step.env ?? {})];
    case "dbus":
      return [
        step.call.destination,
        step.call.path,
        step.call.interface,
        step.call.member,
        ...(step.call.body ?? []).map(String),
      ];
    case "kitty":
      return [step.address, step.command, JSON.stringify(step.payload)];
    case "applescript":
      return [step.app, step.script, ...step.args];
    case "kwin":
      return [step.expression];
    case "top-level-window":
    case "activate":
      return [step.id];
    default:
      return [];
  }
}

const programs = new Set([
  ...["tmux", "screen", "zellij", "wezterm", "open", "xdg-open", "rundll32", "lsappinfo"],
  ...["swaymsg", "hyprctl", "niri", "ss"],
]);

function expectHarmless(steps: readonly PlanStep[], cwd: string | null): void {
  for (const step of steps) {
    for (const text of sentTexts(step).filter((sent) => sent !== cwd)) expect(text).not.toContain(mark);
    if (step.do !== "run") continue;
    expect(programs).toContain(step.argv[0] ?? "");
    for (const argument of step.argv) expect(argument).not.toContain("\0");
    // A folder is one whole argument, and not an option.
    if (cwd !== null && step.argv.includes(cwd)) expect(cwd).toStartWith("/");
  }
}

const readOnlyCommand =
  /^(?:tmux -u -S \S+ list-panes|zellij --session \S+ action list-clients|wezterm cli list|lsappinfo|swaymsg -r -t get_tree|hyprctl clients|niri msg --json windows|ss -Hxnp$)/;
const readOnlyMembers = ["processId", "sessionList", "currentSession", "title"];

function expectNoChange(steps: readonly PlanStep[]): void {
  for (const step of steps) {
    expect(step.do).not.toBe("activate");
    if (step.do === "applescript") {
      expect(step.assumed).toBeUndefined();
      expect(step.script).not.toMatch(/\b(?:set|select|activate|focus|make|close)\b/);
    }
    if (step.do === "run") expect(step.argv.join(" ")).toMatch(readOnlyCommand);
    if (step.do === "kwin") expect(step.expression).not.toMatch(/[^=!]=[^=>]/);
    if (step.do === "kitty") expect(step.command).toBe("ls");
    if (step.do === "dbus") expect(readOnlyMembers).toContain(step.call.member);
  }
}

const carriedOutInDryRun = (steps: readonly PlanStep[]) => steps.filter((step) => !("assumed" in step));

const runs = { numRuns: 150 };

test("the forwarder sends the variables that the table names, and no others", () => {
  const named = [...listSentVariables()].toSorted();
  const all = new Proxy<Record<string, string>>({}, { get: (_, name) => String(name) });
  expect(Object.keys(pickTerminalVariables(all)).toSorted()).toEqual(named);
  expect(shapedVariables.filter((name) => !named.includes(name))).toEqual([]);
});

test("the best variable that is set identifies the session of a terminal", () => {
  for (const [index, name] of listSessionVariables().entries()) {
    const set = listSessionVariables().slice(index);
    expect(findTerminalSession(Object.fromEntries(set.map((variable) => [variable, variable])))).toBe(name);
  }
  expect(findTerminalSession({ TERM: "xterm" })).toBeNull();
});

test("an app that is started from a terminal does not get the variables of that terminal", () => {
  const variables = terminals
    .filter(({ kind }) => kind !== "login")
    .flatMap(({ variables = {} }) => Object.keys(variables));
  const env = Object.fromEntries(variables.map((name) => [name, "x"]));
  expect(createAppEnvironment(env, { session: [], settings: [], markers: [] })).toEqual({});
});

test("every shape accepts a valid value and refuses a hostile one", () => {
  for (const name of shapedVariables) {
    expect({ name, value: readVariable({ [name]: validValue(name) }, shapes, name) }).toEqual({
      name,
      value: validValue(name),
    });
    expect(readVariable({}, shapes, name)).toBeNull();
    fc.assert(fc.property(hostile(name), (value) => readVariable({ [name]: value }, shapes, name) === null));
  }
});

test.each([
  ["KITTY_LISTEN_ON", "tcp:10.0.0.7:5000"],
  ["KITTY_LISTEN_ON", "tcp:127.0.0.1.evil.org:5000"],
  ["KITTY_LISTEN_ON", "fd:3"],
  ["TMUX", "tmux.sock,1,0"],
  ["TMUX", "/tmp/../etc/x,1,0"],
  ["TMUX_PANE", "3"],
  ["WARP_FOCUS_URL", "file:///etc/passwd"],
  ["WARP_FOCUS_URL", "warp://action/new_tab?path=/"],
  ["ZELLIJ_SESSION_NAME", "--config"],
  ["ITERM_SESSION_ID", "w0t0p0"],
  ["KONSOLE_DBUS_SERVICE", "org.freedesktop.login1"],
  ["__CFBundleIdentifier", "../Evil.app"],
  ["WINDOWID", "0x400007"],
] as const)("%s may not be %s", (name, value) => {
  expect(readVariable({ [name]: value }, shapes, name)).toBeNull();
});

const unique = (values: readonly string[]) =>
  expect(values.toSorted()).toEqual([...new Set(values)].toSorted());

test("no two descriptions share a name, a process or a variable", () => {
  unique([...terminals, ...windowSystems].map(({ name }) => name));
  unique(terminals.flatMap(({ processes }) => processes).map((name) => name.toLowerCase()));
  unique(terminals.flatMap(({ term = [] }) => term));
  unique(terminals.flatMap(({ termProgram = [] }) => termProgram));
  unique(terminals.flatMap(({ variables = {} }) => Object.keys(variables)));
});

test("every variable that a description names has a shape in it", () => {
  for (const { variables = {}, ownVariables = [], ...row } of terminals) {
    const more = [row.sessionVariable, row.windowIdVariable, row.variant?.variable];
    for (const name of [...ownVariables, ...more.filter((one) => one !== undefined)])
      expect(Object.keys(variables)).toContain(name);
  }
});

describe.each(terminals.map((row) => [row.name, row] as const))("%s", (_, row) => {
  const { focus, checkVisibility } = row;
  const own = createProcess(88, row.processes[0] ?? "");
  const locations = fc
    .record({ env: environments, cwd: cwds, title: titles, hasProcesses: fc.boolean() })
    .map(
      ({ hasProcesses, ...about }): PaneLocation =>
        hasProcesses
          ? locationInside([own, createProcess(50, "systemd")], about)
          : { lineage: [], tty: null, ...about },
    );

  test("is detected by each of its processes", () => {
    for (const name of row.processes) {
      expect(detectTerminal(locationInside([createProcess(88, name)]))?.name).toBe(row.name);
    }
  });

  test("is detected by each of its variables if its processes are not visible", () => {
    const { term, termProgram, terminalEmulator, ownVariables = [] } = row;
    const environment: Record<string, string>[] = [
      ...(term === undefined ? [] : [{ TERM: term, TERM_PROGRAM: "vscode" }]),
      ...(termProgram === undefined
        ? []
        : [{ TERM_PROGRAM: termProgram, WT_SESSION: validValue("WT_SESSION") }]),
      ...(terminalEmulator === undefined ? [] : [{ TERMINAL_EMULATOR: terminalEmulator }]),
      ...ownVariables.map((name) => ({ [name]: validValue(name), TERM: "xterm-256color" })),
    ];
    for (const env of environment) {
      expect({ env, name: recogniseTerminal(env)?.name }).toEqual({ env, name: row.name });
    }
  });

  test("only passes checked values to programs, and changes nothing in a dry run", () => {
    fc.assert(
      fc.property(locations, platforms, answers, (location, platform, stream) => {
        const plan = focus(location, { platform, env: {} });
        const { steps } = simulate(plan, createAnswers(stream[Symbol.iterator]()));
        expectHarmless(steps, location.cwd);
        expectNoChange(carriedOutInDryRun(steps));
      }),
      runs,
    );
  });

  test("changes nothing when its visibility is checked", () => {
    fc.assert(
      fc.property(locations, platforms, answers, (location, platform, stream) => {
        const plan = checkVisibility(location, { platform, env: {} });
        const { steps } = simulate(plan, createAnswers(stream[Symbol.iterator]()));
        expectHarmless(steps, location.cwd);
        expectNoChange(steps);
      }),
      runs,
    );
  });

  test("says why focus is not possible on a machine where nothing answers", () => {
    const plan = focus(locationInside([own]), { platform: "linux", env: {} });
    const { result } = simulate(plan, answerNothing);
    if (result.kind === "inside") throw new Error("found a client where there is none");
    if (result.kind === "impossible") expect(result.reason).toMatch(/\w+ \w+/);
  });
});

describe.each(windowSystems.map((system) => [system.name, system] as const))("%s", (_, system) => {
  const queries = fc.record({
    pids: fc.constant([88, 50]),
    ids: fc.oneof(fc.constant(["4194311"]), fc.constant(["org.alacritty"]), fc.constant([])),
    titles: titles.map((title) => (title === null ? [] : [title])),
    cwd: cwds,
  });

  test("only passes checked values to programs, and changes nothing in a dry run", () => {
    fc.assert(
      fc.property(queries, platforms, answers, (query: WindowQuery, platform, stream) => {
        const context = { platform, env: {} };
        const answer = createAnswers(stream[Symbol.iterator]());
        const listed = simulate(system.list(query, context), answer);
        expectHarmless(listed.steps, null);
        expectNoChange(listed.steps);
        for (const window of listed.result ?? []) {
          const { steps } = simulate(system.raise(window, context), answer);
          expectHarmless(steps, null);
          expectNoChange(carriedOutInDryRun(steps));
        }
      }),
      runs,
    );
  });
});

test("no value of an event or answer of a program makes focus throw", () => {
  const places = fc.record({
    local: fc.boolean(),
    pid: fc.option(fc.nat(100)),
    procStart: fc.option(trick),
    tty: fc.option(trick),
    terminalSessionId: fc.option(trick),
    env: environments,
  });
  const env = fc.constantFrom({ DISPLAY: ":0" }, { SWAYSOCK: "/run/sway" }, {});
  const login = fc.oneof(trick, fc.constant("10.0.0.5 51234 10.0.0.9 22"));
  const machines = fc.record({ logins: fc.array(login), host: fc.option(trick), isSelected: fc.boolean() });
  fc.assert(
    fc.property(
      places,
      fc.option(machines),
      titles,
      cwds,
      platforms,
      env,
      answers,
      (place, elsewhere, title, cwd, platform, ownEnv, stream) => {
        const target = { place, title, cwd, ...(elsewhere && { elsewhere }) };
        const context = { platform, env: ownEnv };
        const focused = simulate(planFocus(target, context), createAnswers(stream[Symbol.iterator]()));
        expectHarmless(focused.steps, cwd);
        if (focused.result.result !== "exact") expect(focused.result.why).toBeString();
        const checked = simulate(planVisibility(target, context), createAnswers(stream[Symbol.iterator]()));
        expectNoChange(checked.steps);
      },
    ),
    { numRuns: 500 },
  );
});
