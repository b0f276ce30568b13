/** Where a session of the shared server is: the terminal that shows it, found by its title. */
import type { Place } from "../../../core/session/event.ts";
import type { WatchContext } from "../../agent.ts";
import type { ServerThread } from "../server.ts";
import type { EmitCodexChange } from "./rollouts.ts";
import type { FoundTerminal } from "./terminals.ts";

export interface ThreadPlaceOptions
  extends Pick<WatchContext, "clock" | "findSession" | "exec" | "listWindows"> {
  readonly emit: EmitCodexChange;
}

/** Looks for the terminal by the name that is known. Resolves with why it was not found; null if it was. */
export async function updatePlace(
  thread: ServerThread,
  others: readonly ServerThread[],
  options: ThreadPlaceOptions,
): Promise<string | null> {
  const { id: sessionId } = thread;
  // Loaded only where a server is.
  const { findTerminal, listTitles } = await import("./terminals.ts");
  const titles = listTitles(thread);
  const isUnique = !others.some((other) => listTitles(other).some((title) => titles.includes(title)));
  const terminal: FoundTerminal = isUnique
    ? await findTerminal(thread, options)
    : { kind: "none", why: "another session has the same title" };
  const session = options.findSession(sessionId);
  if (!session) return null;
  const place = terminal.kind === "found" ? terminal.place : null;
  if (!isSamePlace(session.place, place))
    options.emit({ sessionId }, options.clock(), { kind: "located", place });
  if (terminal.kind === "found") return null;
  // The user may paste the command into a shell.
  const hint = /^\w[\w-]*$/.test(sessionId) ? ` Open it: codex resume ${sessionId}` : "";
  return `Codex's shared server runs it, and ${terminal.why}.${hint}`;
}

const isSamePlace = (known: Place | null, place: Place | null): boolean =>
  known?.pid === place?.pid && known?.tty === place?.tty && known?.env.WINDOWID === place?.env.WINDOWID;
