/** Warp gives each pane a link that shows it (https://github.com/warpdotdev/warp/pull/11130). */
import { queryWindow } from "./lineage.ts";
import { isRunning } from "./macos.ts";
import { immediate, run } from "./plan.ts";
import { inApplications, type Terminal, type TerminalContext } from "./terminal.ts";
import { readVariable } from "./variables.ts";

const variables = { WARP_FOCUS_URL: /^warp(?:oss|preview|dev|local)?:\/\/session\/[0-9a-f]{32}$/ };
const bundleId = "dev.warp.Warp-Stable";

function openLink({ platform }: TerminalContext, url: string): readonly string[] {
  if (platform === "darwin") return ["open", url];
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", url] : ["xdg-open", url];
}

export const warp: Terminal = {
  name: "Warp",
  kind: "terminal",
  processes: ["warp", "warp-terminal", "stable", "warp-terminal-preview", "warp-oss"],
  termProgram: "WarpTerminal",
  variables,
  bundleId,
  commands: ["warp-terminal"],
  macApps: [inApplications("Warp")],
  reach: "tab",
  needs: "Warp of May 2026 or newer",
  isTested: false,
  *focus(location, context) {
    // On macOS opening a link would start a Warp that the user has quit.
    const runs = context.platform !== "darwin" || location.lineage.length > 0 || (yield* isRunning(bundleId));
    const url = runs ? readVariable(location.env, variables, "WARP_FOCUS_URL") : null;
    const opened = url === null ? null : yield* run(openLink(context, url));
    if (opened?.code === 0) return { kind: "front", limit: null };
    const limit = "this Warp does not let other programs select a tab: update it (May 2026 or newer)";
    return { kind: "window", query: queryWindow(location, { ids: [bundleId] }), limit };
  },
  checkVisibility: (location) =>
    immediate({ kind: "window", query: queryWindow(location, { ids: [bundleId] }), isCertain: false }),
};
