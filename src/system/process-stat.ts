/** An agent's process: its variable, its names, and the text of /proc/PID/stat. No imports: it is loaded at every hook. */

export interface ProcessStat {
  readonly pid: number;
  readonly name: string;
  /** "Z" and "X": it has ended. */
  readonly state: string;
  readonly parent: number;
  /** The path of its terminal; null if it has none. */
  readonly tty: string | null;
  /** In clock ticks since boot. */
  readonly start: string;
}

/** The variable with the agent's pid, for a hook that outlives the shell that started it. */
export const agentPidVariable = "BECKON_AGENT_PID";

/** Other names that an agent's process can have. Newer versions of Node name theirs MainThread, macOS Python's with a capital. */
const runtimes: ReadonlySet<string> = new Set([
  "node",
  "MainThread",
  "bun",
  "deno",
  "python",
  "python3",
  "Python",
]);

/** Whether a process with this name can be the agent's. */
export const isAgentProcess = (agent: string, name: string): boolean =>
  name === agent || name.startsWith(`${agent}-`) || runtimes.has(name);

/** Null if the text is something else. The name can contain any character, so the fields are counted from its closing parenthesis. */
export function parseStat(text: string): ProcessStat | null {
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const [state = "", parent, , , tty] = fields;
  const start = fields[19];
  if (end < 0 || start === undefined) return null;
  const name = text.slice(text.indexOf("(") + 1, end);
  const pid = Number.parseInt(text, 10);
  return { pid, name, state, parent: Number(parent), tty: formatTty(Number(tty)), start };
}

/** `device` is tty_nr of /proc/PID/stat: the minor number is in bits 31–20 and 7–0, the major in bits 15–8. null if there is none. */
export function formatTty(device: number): string | null {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  if (major === 4) return minor < 64 ? `/dev/tty${minor}` : `/dev/ttyS${minor - 64}`;
  return null;
}
