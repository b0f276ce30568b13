import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { claudeForwarding } from "../../src/agents/claude/forwarding.ts";
import { focus, isLooking } from "../../src/desktop/terminals/focus.ts";
import { table } from "../../src/desktop/terminals/index.ts";
import type { Process, Step } from "../../src/desktop/terminals/plan.ts";
import type { PaneLocation, Wanted } from "../../src/desktop/terminals/row.ts";
import { type Claim, claimed, claims } from "../../src/desktop/terminals/shapes.ts";
import { describe as describeEvent } from "../../src/hook/meta.ts";
import { inside, nothing, play, process } from "./terminals-play.ts";

/** In every value of a stranger; in nothing that has the right shape. */
const mark = "☠";

const good: Record<Claim, string> = {
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
  GHOSTTY_SURFACE_ID: "0xb352563abc664447",
  WARP_FOCUS_URL: "warp://session/0123456789abcdef0123456789abcdef",
  WT_SESSION: "0b9a4f5e-8d2b-4c0f-9b0c-2d6c1c1c7a11",
  KONSOLE_DBUS_SERVICE: ":1.42",
  KONSOLE_DBUS_SESSION: "/Sessions/3",
  KONSOLE_DBUS_WINDOW: "/Windows/1",
  GNOME_TERMINAL_SCREEN: "/org/gnome/Terminal/screen/e740e1a1_d14e_4637_a33a_64af6eba1b44",
  __CFBundleIdentifier: "com.microsoft.VSCode",
  SSH_CONNECTION: "10.0.0.5 51234 10.0.0.9 22",
  WSL_DISTRO_NAME: "Ubuntu-24.04",
  TERM_PROGRAM: "vscode",
  TERMINAL_EMULATOR: "JetBrains-JediTerm",
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
/** Alone, before, behind or inside of a good one. */
const hostile = (claim: Claim) =>
  fc.tuple(trick, fc.constantFrom("alone", "before", "behind", "inside")).map(([text, where]) => {
    const value = good[claim];
    if (where === "before") return text + value;
    if (where === "behind") return value + text;
    return where === "inside" ? value.slice(0, 2) + text + value.slice(2) : text;
  });

const variable = (claim: Claim) => fc.oneof(fc.constant(undefined), fc.constant(good[claim]), hostile(claim));
const environments = fc
  .record(Object.fromEntries(claims.map((claim) => [claim, variable(claim)])))
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

/** Answers of every kind: none, good ones, and such as a hostile program would give. */
const answers = fc.infiniteStream(fc.tuple(fc.nat(5), trick));

function answerer(stream: Iterator<[number, string]>): (step: Step) => unknown {
  return (step) => {
    const [kind, text] = stream.next().value as [number, string];
    if (kind === 0) return nothing(step);
    return respond(step, kind, text);
  };
}

function respond(step: Step, kind: number, text: string): unknown {
  switch (step.do) {
    case "run":
      return { code: kind === 1 ? 1 : 0, stdout: printed(kind, text), stderr: text };
    case "lineage":
      return [process(step.pid, "bash", { tty: "/dev/pts/8" }), process(70, kind > 3 ? "xterm" : text)];
    case "environment":
      return { TMUX: text, WINDOWID: kind > 3 ? "77" : text, KITTY_LISTEN_ON: `unix:${text}` };
    case "processes":
      return kind > 3 ? [process(66, step.name, { tty: "/dev/pts/9" })] : [];
    case "ttys":
      return ["/dev/pts/9", text];
    case "sockets-of":
    case "own-sockets":
      return step.do === "own-sockets" && kind > 3 ? step.paths.filter((path) => !path.endsWith("/")) : [];
    case "connection":
      return kind > 3 ? 66 : null;
    case "call":
      return [kind > 3 ? 3 : text];
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
    case "outer-window":
      return kind > 3 ? step.id : null;
    case "activate":
      return kind > 3;
  }
}

function printed(kind: number, text: string): string {
  const panes = `%3 89 /dev/pts/7 @1 $1 11 ${text}\n%4 5 ${text} @1 $1 11 x\n`;
  const clients = `66 /dev/pts/9 $1 100\n67 ${text} $1 101\n`;
  if (kind === 2) return panes + clients;
  if (kind === 3)
    return JSON.stringify([
      { pane_id: 5, tty_name: "/dev/pts/7", title: text, id: text, address: text, pid: 88 },
    ]);
  return kind === 4 ? JSON.stringify({ id: 9, pid: 88, name: text, nodes: [{ id: text, pid: 88 }] }) : text;
}

/** Everything that goes out of a plan into the world. */
function words(step: Step): readonly string[] {
  switch (step.do) {
    case "run":
      return [...step.argv, ...Object.values(step.env ?? {})];
    case "call":
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
    case "outer-window":
    case "activate":
      return [step.id];
    default:
      return [];
  }
}

const programs = new Set([
  ...["tmux", "screen", "zellij", "wezterm", "open", "xdg-open", "rundll32", "lsappinfo"],
  ...["swaymsg", "hyprctl", "niri"],
]);

function expectHarmless(steps: readonly Step[], cwd: string | null): void {
  for (const step of steps) {
    for (const word of words(step).filter((one) => one !== cwd)) expect(word).not.toContain(mark);
    if (step.do !== "run") continue;
    expect(programs).toContain(step.argv[0] ?? "");
    for (const word of step.argv) expect(word).not.toContain("\0");
    // A folder is one whole argument, and no option.
    if (cwd !== null && step.argv.includes(cwd)) expect(cwd).toStartWith("/");
  }
}

const asking =
  /^(?:tmux -u -S \S+ list-panes|zellij --session \S+ action list-clients|wezterm cli list|lsappinfo|swaymsg -r -t get_tree|hyprctl clients|niri msg --json windows)/;
const questions = ["processId", "sessionList", "currentSession", "title"];

function expectNoChange(steps: readonly Step[]): void {
  for (const step of steps) {
    expect(["activate", "applescript"]).not.toContain(step.do);
    if (step.do === "run") expect(step.argv.join(" ")).toMatch(asking);
    if (step.do === "kwin") expect(step.expression).not.toMatch(/[^=!]=[^=>]/);
    if (step.do === "kitty") expect(step.command).toBe("ls");
    if (step.do === "call") expect(questions).toContain(step.call.member);
  }
}

const runs = { numRuns: 150 };

test("both forwarders carry every variable that a recipe reads", async () => {
  expect(Object.keys(describeEvent(claudeForwarding, good).env as object).sort()).toEqual([...claims].sort());
  const script = await Bun.file(join(import.meta.dir, "../../hooks/beckon-hook.sh")).text();
  const carried = /for variable in ([^;]*);/.exec(script)?.[1]?.split(/[\s\\]+/) ?? [];
  expect(claims.filter((claim) => !carried.includes(claim))).toEqual([]);
});

test("every shape takes a good value and none with something strange in it", () => {
  for (const claim of claims) {
    expect({ claim, value: claimed({ [claim]: good[claim] }, claim) }).toEqual({ claim, value: good[claim] });
    expect(claimed({}, claim)).toBeNull();
    fc.assert(fc.property(hostile(claim), (value) => claimed({ [claim]: value }, claim) === null));
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
] as const)("%s is not taken as %s", (claim, value) => {
  expect(claimed({ [claim]: value }, claim)).toBeNull();
});

describe.each(table.terminals.map((row) => [row.name, row] as const))("%s", (_, row) => {
  const own: Process = sample(row.is);
  const spots = fc
    .record({ env: environments, cwd: cwds, title: titles, seen: fc.boolean() })
    .map(
      ({ seen, ...about }): PaneLocation =>
        seen ? inside([own, process(50, "systemd")], about) : { lineage: [], tty: null, ...about },
    );

  test("only checked values reach a program, whatever strangers say", () => {
    fc.assert(
      fc.property(spots, platforms, answers, (spot, platform, stream) => {
        const { steps } = play(row.focus(spot, { platform, env: {} }), answerer(stream[Symbol.iterator]()));
        expectHarmless(steps, spot.cwd);
      }),
      runs,
    );
  });

  test("to look changes nothing", () => {
    fc.assert(
      fc.property(spots, platforms, answers, (spot, platform, stream) => {
        const { steps } = play(row.look(spot, { platform, env: {} }), answerer(stream[Symbol.iterator]()));
        expectHarmless(steps, spot.cwd);
        expectNoChange(steps);
      }),
      runs,
    );
  });

  test("on a machine where nothing answers it says why, in words", () => {
    const { result } = play(row.focus(inside([own]), { platform: "linux", env: {} }), nothing);
    if (result.kind === "inside") throw new Error("found a client where there is none");
    if (result.kind === "impossible") expect(result.why).toMatch(/\w+ \w+/);
  });
});

describe.each(table.windows.map((row) => [row.name, row] as const))("%s", (_, row) => {
  const wanted = fc.record({
    pids: fc.constant([88, 50]),
    ids: fc.oneof(fc.constant(["4194311"]), fc.constant(["org.alacritty"]), fc.constant([])),
    titles: titles.map((title) => (title === null ? [] : [title])),
    cwd: cwds,
  });

  test("only checked values reach a program, whatever strangers say", () => {
    fc.assert(
      fc.property(wanted, platforms, answers, (about: Wanted, platform, stream) => {
        const here = { platform, env: {} };
        const answer = answerer(stream[Symbol.iterator]());
        const listed = play(row.list(about, here), answer);
        expectHarmless(listed.steps, null);
        expectNoChange(listed.steps);
        for (const window of listed.result ?? [])
          expectHarmless(play(row.raise(window, here), answer).steps, null);
      }),
      runs,
    );
  });
});

test("from agent to window, no stranger's word makes it throw or say exact without a window", () => {
  const places = fc.record({
    local: fc.boolean(),
    pid: fc.option(fc.nat(100)),
    procStart: fc.option(trick),
    tty: fc.option(trick),
    terminalSessionId: fc.option(trick),
    env: environments,
  });
  const env = fc.constantFrom({ DISPLAY: ":0" }, { SWAYSOCK: "/run/sway" }, {});
  fc.assert(
    fc.property(places, titles, cwds, platforms, env, answers, (place, title, cwd, platform, own, stream) => {
      const here = { platform, env: own };
      const focused = play(focus({ place, title, cwd }, here, table), answerer(stream[Symbol.iterator]()));
      expectHarmless(focused.steps, cwd);
      if (focused.result.result !== "exact") expect(focused.result.why).toBeString();
      const looked = play(isLooking({ place, title, cwd }, here, table), answerer(stream[Symbol.iterator]()));
      expectNoChange(looked.steps);
    }),
    { numRuns: 500 },
  );
});

/** A process that the row takes for its own. */
function sample(is: (process: Process) => boolean): Process {
  const names = [
    ...[
      "tmux: server",
      "SCREEN",
      "zellij",
      "sshd",
      "kitty",
      "wezterm-gui",
      "ghostty",
      "konsole",
      "gnome-terminal-server",
    ],
    ...[
      "warp",
      "iTerm2",
      "Terminal",
      "WindowsTerminal",
      "code",
      "idea",
      "zed",
      "xterm",
      "alacritty",
      "foot",
      "urxvt",
      "st",
    ],
    ...[
      "mlterm",
      "xfce4-terminal",
      "mate-terminal",
      "lxterminal",
      "qterminal",
      "terminator",
      "tilix",
      "ptyxis",
      "kgx",
    ],
    ...["rio", "tabby", "hyper"],
  ];
  const found = names.map((name) => process(88, name)).find(is);
  if (!found) throw new Error("add the program of the new row to this list");
  return found;
}
