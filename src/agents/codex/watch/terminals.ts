/**
 * Finds the terminal that shows a session of the shared server. The server runs the sessions of all terminals and knows none of
 * them: the only bridge is the title, `<thread name> | <folder>` (measured). Only tmux says what the title of a pane is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Exec } from "../../../core/ports.ts";
import type { Place } from "../../../core/session/event.ts";
import { pickTerminalVariables } from "../../../core/terminal-variables.ts";
import { parseStartTime } from "../../../system/processes.ts";

/** A terminal that runs `codex`. */
export interface CodexTerminal {
  readonly pid: number;
  readonly procStart: string | null;
  readonly env: Readonly<Record<string, string>>;
}

export type FoundTerminal =
  | { readonly kind: "found"; readonly place: Place }
  | { readonly kind: "none"; readonly why: string };

const titleTimeoutMs = 1_000;
const separator = "\t";

/** `name` and `cwd` are those of the thread. */
export async function findTerminal(
  { name, cwd }: { readonly name: string | null; readonly cwd: string | null },
  exec: Exec,
  terminals: readonly CodexTerminal[] = listTerminals(),
): Promise<FoundTerminal> {
  const none = (why: string): FoundTerminal => ({ kind: "none", why });
  if (name === null || cwd === null) return none("it has no title yet to find its terminal by");
  const panes = await Promise.all(terminals.map((terminal) => readPane(terminal, exec)));
  const matching = panes.filter((pane) => pane !== null && isTitleOf(pane.title, name, cwd));
  const [pane] = matching;
  if (matching.length > 1) return none("several terminals have its title");
  if (!pane) return none("no tmux pane has its title, and other terminals do not say theirs");
  const { terminal, tty } = pane;
  return {
    kind: "found",
    place: {
      local: true,
      pid: terminal.pid,
      procStart: terminal.procStart,
      tty,
      terminalSessionId: terminal.env.TMUX_PANE ?? null,
      env: pickTerminalVariables(terminal.env),
    },
  };
}

/** Before the title stands a spinner while it works, and `[ . ] Action Required | ` while it waits. */
export function isTitleOf(title: string, name: string, cwd: string): boolean {
  const own = `${name} | ${basename(cwd)}`;
  return (
    title.endsWith(own) &&
    /^(?:\[ \S \] Action Required \| )?(?:[\u2800-\u28ff] )?$/.test(title.slice(0, -own.length))
  );
}

async function readPane(terminal: CodexTerminal, exec: Exec) {
  const { TMUX: server, TMUX_PANE: pane } = terminal.env;
  const socket = server?.split(",")[0];
  if (!socket || !pane) return null;
  const format = ["#{pane_tty}", "#{pane_title}"].join(separator);
  const command = ["tmux", "-u", "-S", socket, "display-message", "-p", "-t", pane, format];
  const { code, stdout } = await exec(command, { timeoutMs: titleTimeoutMs });
  const [tty = "", title = ""] = stdout.replace(/\n$/, "").split(separator);
  return code === 0 && tty.startsWith("/dev/") ? { terminal, tty, title } : null;
}

const ownThreads = /^(?:app-server|exec|--no-daemon)$/;

/** The processes of `codex` that have a terminal and show sessions of the shared server. Empty on other systems than Linux. */
function listTerminals(): readonly CodexTerminal[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^[1-9]\d*$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
        const end = stat.lastIndexOf(")");
        const tty = stat.slice(end + 2).split(" ")[4];
        if (stat.slice(stat.indexOf("(") + 1, end) !== "codex" || tty === "0") return [];
        const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        if (args.some((arg) => ownThreads.test(arg))) return [];
        const env = Object.fromEntries(
          readFileSync(`/proc/${pid}/environ`, "utf8")
            .split("\0")
            .map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
        );
        return [{ pid: Number(pid), procStart: parseStartTime(stat), env }];
      } catch {
        // It has ended, or belongs to another user.
        return [];
      }
    });
}
