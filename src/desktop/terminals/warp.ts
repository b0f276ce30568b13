/** Warp: it gives each pane a link that leads back to it. */
import { wantedOf } from "./around.ts";
import { isRunning } from "./macos.ts";
import { just, run } from "./plan.ts";
import { named, programIs, type TerminalContext, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

const bundle = "dev.warp.Warp-Stable";
const ids = [bundle];

function opener({ platform }: TerminalContext, url: string): readonly string[] {
  if (platform === "darwin") return ["open", url];
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", url] : ["xdg-open", url];
}

export const row: TerminalRow = {
  name: "Warp",
  proven: "by documentation",
  is: named("warp", "warp-terminal", "stable", "warp-terminal-preview", "warp-oss"),
  says: (env) => programIs(env, "WarpTerminal"),
  *focus(spot, here) {
    // To open a link on macOS would start a Warp that the person has quit.
    const runs = here.platform !== "darwin" || spot.lineage.length > 0 || (yield* isRunning(bundle));
    const url = runs ? claimed(spot.env, "WARP_FOCUS_URL") : null;
    const ran = url === null ? null : yield* run(opener(here, url));
    if (ran?.code === 0) return { kind: "front", why: null };
    const why = "this Warp cannot switch tabs from outside: update it (from May 2026 on it can)";
    return { kind: "window", wanted: wantedOf(spot, { ids }), why };
  },
  look: (spot) => just({ kind: "window", wanted: wantedOf(spot, { ids }), sure: false }),
};
