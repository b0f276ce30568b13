/** What shows a session's dialogs if no terminal does: an editor, an app, or a program that runs the agent through its SDK. Pure. */
import { capitalize } from "../text/words.ts";
import type { Place } from "./event.ts";

export interface Host {
  readonly kind: "editor" | "app" | "sdk";
  /** "VS Code" */
  readonly name: string;
}

/** By the end of the entrypoint. */
const editors: Readonly<Record<string, string>> = { vscode: "VS Code", jetbrains: "JetBrains", zed: "Zed" };

/** null if the session has a terminal, or nothing is known. An agent says in its entrypoint who has started it: `…-vscode`, `sdk-ts`. */
export function findHost(place: Pick<Place, "env"> | null): Host | null {
  const env = place?.env ?? {};
  const variable = Object.keys(env).find((name) => name.endsWith("_ENTRYPOINT"));
  const entrypoint = variable === undefined ? "" : (env[variable] ?? "");
  // Both run in a terminal.
  if (entrypoint === "" || entrypoint === "cli" || entrypoint === "sdk-cli") return null;
  if (entrypoint.startsWith("sdk-")) return { kind: "sdk", name: "SDK host" };
  const words = entrypoint.split("-");
  const last = words.at(-1) ?? "";
  // Cursor runs VS Code's extensions.
  if (last === "vscode" && env.CURSOR_TRACE_ID) return { kind: "editor", name: "Cursor" };
  if (Object.hasOwn(editors, last)) return { kind: "editor", name: editors[last] ?? last };
  return { kind: "app", name: words.map(capitalize).join(" ") };
}
