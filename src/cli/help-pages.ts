/** What `beckon help` prints about each command: the overview and the pages are made from this table. */
import type { Agent } from "../agents/agent.ts";

/** What to type, and what it does. */
export type HelpRow = readonly [text: string, about: string];

export interface HelpPage {
  /** As in the table of commands. */
  readonly command: string;
  readonly overview: readonly HelpRow[];
  /** A sentence or two: the first lines of the page. */
  readonly summary: string;
  readonly usage: readonly string[];
  readonly options?: readonly HelpRow[];
  readonly examples: readonly HelpRow[];
}

const json: HelpRow = ["--json", "for scripts"];
const off: HelpRow = ["--off", "ends it"];
const dryRun: HelpRow = ["--dry-run", "show what would be done, and do nothing"];

const namesSession =
  "SESSION is a session's id, its first 4 characters or more, agent:id, or its project if only one session is in it.";

/** In groups, as the overview lists them. */
export function createPages(table: readonly Agent[]): readonly (readonly HelpPage[])[] {
  const tested = table.filter(({ isUntested }) => !isUntested);
  const names = new Intl.ListFormat("en-GB").format(tested.map(({ name }) => name));
  const untested = table.filter(({ isUntested }) => isUntested).map(({ id }) => id);
  const [agent = "NAME"] = table.map(({ id }) => id);
  const whose: readonly HelpRow[] = [
    ["--scope user|project|local", "which of the agent's settings files"],
    [
      "--agent NAME…",
      `only these agents: ${tested.map(({ id }) => id).join(", ")}${untested.length === 0 ? "" : `; untested: ${untested.join(", ")}`}`,
    ],
  ];
  return [
    [
      {
        command: "--install",
        overview: [["beckon --install", `connect ${names}, start beckon now and at login`]],
        summary: `Connects ${names}, starts beckon, and starts it at every login. Keeps a backup of every settings file that it changes.`,
        usage: ["beckon --install [OPTIONS]"],
        options: [
          dryRun,
          ["--login, --no-login", "start beckon at login, or not"],
          ["--statusline, --no-statusline", "read along in the agent's status line, or not"],
          ...whose,
        ],
        examples: [
          ["beckon --install --dry-run", "shows the changes to your settings"],
          ["beckon --install --scope project", "hooks for the project in this folder only"],
        ],
      },
      {
        command: "--uninstall",
        overview: [["beckon --uninstall", "undo it; --purge also removes beckon's data"]],
        summary: "Removes the hooks, the login item and the binary.",
        usage: ["beckon --uninstall [OPTIONS]"],
        options: [dryRun, ["--purge", "also remove your settings and what beckon stored"], ...whose],
        examples: [
          ["beckon --uninstall --dry-run", "shows what would be removed"],
          [`beckon --uninstall --agent ${agent}`, "removes the hooks of one agent only"],
        ],
      },
    ],
    [
      {
        command: "start",
        overview: [["beckon start", "run in the background"]],
        summary: "Runs beckon in the background.",
        usage: ["beckon start"],
        examples: [["beckon start", ""]],
      },
      {
        command: "run",
        overview: [["beckon", "run in this terminal"]],
        summary: "Runs beckon in this terminal, until Ctrl-C.",
        usage: ["beckon"],
        examples: [["BECKON_PORT=4500 beckon", "on another port"]],
      },
      {
        command: "restart",
        overview: [["beckon restart", "stop it, and start it again"]],
        summary:
          "Stops beckon and starts it again in the background. Events that arrive meanwhile are not lost.",
        usage: ["beckon restart"],
        examples: [["beckon restart", "after an update"]],
      },
      {
        command: "stop",
        overview: [["beckon stop", "quit, and stay off until you start it again"]],
        summary: "Quits beckon. Hooks do not start it again until you do.",
        usage: ["beckon stop"],
        examples: [["beckon stop", ""]],
      },
    ],
    [
      {
        command: "status",
        overview: [["beckon status", "list every session and what it needs"]],
        summary: "Lists every session, the ones that need you first.",
        usage: ["beckon status [--json | --short] [--watch]"],
        options: [
          json,
          ["--short", "one line for a status bar: ●2 ◌1 ◐4 ○3"],
          ["--watch", "keep the list current, and act on it with keys"],
        ],
        examples: [
          ["beckon status --watch", "press ? in it for the keys"],
          ["beckon status --json | jq '.sessions[].group'", "the group of each session"],
        ],
      },
      {
        command: "open",
        overview: [["beckon open", "the dashboard, in your browser"]],
        summary: "Opens the dashboard in your browser. Its address works once, for 30 seconds.",
        usage: ["beckon open [--print]"],
        options: [["--print", "print the address, and open nothing"]],
        examples: [
          ["beckon open", ""],
          ["beckon open --print", "for another browser, or through ssh -L 4488:127.0.0.1:4488"],
        ],
      },
      {
        command: "focus",
        overview: [
          ["beckon focus SESSION", "go to the session's terminal"],
          ["beckon focus --next", "go to the session that has waited longest"],
        ],
        summary: `Goes to a session's terminal. ${namesSession}`,
        usage: ["beckon focus SESSION", "beckon focus --next"],
        options: [["--next", "the session that has waited longest"]],
        examples: [
          ["beckon focus shop-api", "by its project"],
          ["beckon focus 9f3c", "by the start of its id"],
        ],
      },
      {
        command: "answer",
        overview: [
          ["beckon answer SESSION", "show what it asks, and how to answer"],
          ["beckon answer --next", "show what has waited longest"],
          ["beckon answer SESSION allow", "or always, deny [MESSAGE], your REPLY"],
        ],
        summary: `Shows what a session asks, or answers it. What is long or dangerous is shown again before you allow it. Without --ask it answers only if one thing is asked, and was when you ran it. Without a terminal, something dangerous is allowed only with --yes. ${namesSession} If several are in it, it means the one that waits.`,
        usage: [
          "beckon answer SESSION",
          "beckon answer --next",
          "beckon answer SESSION allow",
          "beckon answer SESSION always [N]",
          "beckon answer SESSION deny [MESSAGE]",
          "beckon answer SESSION REPLY",
        ],
        options: [
          ["--next", "show what the session asks that has waited longest"],
          ["--ask ID", "this ask and no other; the commands that beckon prints have it"],
          ["--yes", "do not ask for confirmation"],
          ["--", "send the rest as text"],
        ],
        examples: [
          ["beckon answer shop-api allow", "once"],
          ["beckon answer shop-api always", "and do not ask again"],
          ['beckon answer shop-api deny "use pnpm"', "the agent reads your message"],
          ["beckon answer website 2", "the second option of a question"],
          ['beckon answer website -- "none of these"', "your own text"],
        ],
      },
    ],
    [
      {
        command: "mute",
        overview: [["beckon mute SESSION", "no alerts from it, until --off"]],
        summary: `Shows no alerts from a session any more. ${namesSession}`,
        usage: ["beckon mute SESSION [--off]"],
        options: [off],
        examples: [
          ["beckon mute shop-api", ""],
          ["beckon mute shop-api --off", ""],
        ],
      },
      {
        command: "snooze",
        overview: [["beckon snooze SESSION", "no alerts from it for 15 minutes, or MINUTES"]],
        summary: `Shows no alerts from a session for 15 minutes, or for MINUTES. ${namesSession}`,
        usage: ["beckon snooze SESSION [MINUTES]", "beckon snooze SESSION --off"],
        options: [off],
        examples: [
          ["beckon snooze shop-api 60", "for an hour"],
          ["beckon snooze shop-api --off", ""],
        ],
      },
      {
        command: "dismiss",
        overview: [["beckon dismiss SESSION", "put aside what it asks now"]],
        summary: `Puts aside what a session asks now, or its failure. Its next request alerts you again. ${namesSession}`,
        usage: ["beckon dismiss SESSION"],
        examples: [["beckon dismiss shop-api", ""]],
      },
      {
        command: "quiet",
        overview: [["beckon quiet hour", "no alerts at all; or tomorrow, on, off"]],
        summary: "Shows no alerts at all for a while. Alone, it shows whether alerts are on.",
        usage: ["beckon quiet [hour | tomorrow | on | off]"],
        examples: [
          ["beckon quiet hour", "no alerts for an hour"],
          ["beckon quiet tomorrow", "no alerts until 8 in the morning"],
          ["beckon quiet on", "no alerts until you turn them on"],
          ["beckon quiet off", "turns them on"],
        ],
      },
    ],
    [
      {
        command: "channel",
        overview: [
          ["beckon channel add NAME", "send alerts to your phone or chat: asks, tests, saves"],
          ["beckon channel test NAME", "send a test message there"],
          ["beckon channel list", "every channel, and whether it works"],
          ["beckon channel remove NAME", "send nothing there any more"],
        ],
        summary:
          "Sends alerts to your phone or chat, and takes answers from there if you turn that on. NAME is yours to choose, like phone.",
        usage: [
          "beckon channel add NAME",
          "beckon channel test NAME",
          "beckon channel list [--json]",
          "beckon channel remove NAME",
        ],
        options: [json],
        examples: [
          ["beckon channel add phone", "asks which service, tests it, and saves it"],
          ["beckon channel test phone", "waits for your tap if answers are on"],
          ["beckon channel remove phone", "removes its settings and its secrets"],
        ],
      },
      {
        command: "log",
        overview: [["beckon log", "what was asked, answered and alerted"]],
        summary: "Lists what was asked, answered and alerted, and why an alert was not shown.",
        usage: ["beckon log [--json] [-n N]"],
        options: [json, ["-n N", "the last N entries (30)"]],
        examples: [["beckon log -n 100", ""]],
      },
      {
        command: "history",
        overview: [["beckon history TEXT", "search what happened"]],
        summary:
          "Lists what happened, or what contains every word of TEXT: prompts, answers, tools, asks and how they ended.",
        usage: ["beckon history [TEXT] [OPTIONS]", "beckon history --export"],
        options: [
          ["-n N", "the last N entries (30)"],
          ["--project NAME", "only of this project"],
          ["--kind KIND", "only prompt, answer, permission, question, plan, tool, failed, …"],
          ["--session SESSION", "only of this session: its id, the start of it, or its project"],
          json,
          ["--export", "every event as a line of JSON, oldest first"],
        ],
        examples: [
          ["beckon history migration", "everything about it"],
          ["beckon history --kind permission -n 100", "what was asked, and how it was answered"],
          ["beckon history --export > events.jsonl", ""],
        ],
      },
      {
        command: "stats",
        overview: [["beckon stats", "how long agents waited for you, by day and project"]],
        summary:
          "Shows how long agents waited for you, how fast you answered, and what they used, by day and project.",
        usage: ["beckon stats [--days N] [--json]"],
        options: [["--days N", "the last N days (14)"], json],
        examples: [["beckon stats --days 30", ""]],
      },
      {
        command: "port",
        overview: [["beckon port list", "named pieces of work that edits belong to"]],
        summary:
          "Ports are named pieces of work in a project. A port that an agent starts counts for its session; one that you start, for every session of the project. With the work guard on, edits without a running port are refused or recorded.",
        usage: [
          "beckon port create ID --title TITLE [--depends-on ID…]",
          "beckon port start ID [--session SESSION]",
          "beckon port end [ID] [--note TEXT]",
          "beckon port list [--all] [--json]",
          "beckon port show ID [--json]",
          "beckon port check < payload.json",
        ],
        options: [
          ["--title TITLE", "what the work is, in one line"],
          ["--depends-on ID", "ports that have to end first"],
          ["--session SESSION", "start it for this session: its id, the start of it, or its project"],
          ["--note TEXT", "what to remember about it"],
          ["--project FOLDER", "another project than that of this folder"],
          ["--all", "also ports that have ended"],
          json,
        ],
        examples: [
          ['beckon port create login --title "Log in with a passkey"', ""],
          ["beckon port start login", ""],
          ['beckon port end login --note "works in Safari too"', ""],
        ],
      },
      {
        command: "demo",
        overview: [["beckon demo", "an invented day: icon, alerts and dashboard"]],
        summary:
          "Shows icon, alerts and dashboard with invented sessions, beside your own beckon. Ctrl-C ends it, and removes everything.",
        usage: ["beckon demo [--print]"],
        options: [["--print", "print the dashboard's address, and open nothing"]],
        examples: [["beckon demo", ""]],
      },
      {
        command: "doctor",
        overview: [["beckon doctor", "test every part, and say how to fix it"]],
        summary:
          "Tests every part with a live event, and says how to fix what is broken. The exit code is then 1.",
        usage: ["beckon doctor [--json]"],
        options: [json],
        examples: [["beckon doctor", ""]],
      },
      {
        command: "--help",
        overview: [["beckon help COMMAND", "options and examples of a command"]],
        summary: "Shows the options of a command, and examples.",
        usage: ["beckon help [COMMAND]", "beckon COMMAND --help"],
        examples: [["beckon help answer", ""]],
      },
      {
        command: "hook",
        overview: [["beckon hook AGENT", "called by the agents' hooks"]],
        summary: "Sends the event on standard input to beckon. The agents' hooks call it.",
        usage: ["beckon hook AGENT"],
        examples: [[`beckon hook ${agent} < event.json`, ""]],
      },
      {
        command: "--version",
        overview: [["beckon --version", "which beckon this is"]],
        summary: "Shows which beckon this is.",
        usage: ["beckon --version"],
        examples: [["beckon --version", ""]],
      },
    ],
  ];
}
