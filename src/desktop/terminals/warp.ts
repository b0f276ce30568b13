/** Warp gives each pane a link that shows it. */
import { describeTerminal, readVariable } from "../../core/terminals.ts";
import { queryWindow } from "./detect.ts";
import { isRunning } from "./macos.ts";
import { immediate, run } from "./plan.ts";
import type { TerminalContext, TerminalRecipe } from "./recipe.ts";

const { bundleId } = describeTerminal("warp");

function openLink({ platform }: TerminalContext, url: string): readonly string[] {
  if (platform === "darwin") return ["open", url];
  return platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler", url] : ["xdg-open", url];
}

export const warp: TerminalRecipe = {
  *focus(location, context) {
    // On macOS opening a link would start a Warp that the user has quit.
    const runs = context.platform !== "darwin" || location.lineage.length > 0 || (yield* isRunning(bundleId));
    const url = runs ? readVariable(location.env, "WARP_FOCUS_URL") : null;
    const opened = url === null ? null : yield* run(openLink(context, url));
    if (opened?.code === 0) return { kind: "front", limit: null };
    const limit = "this Warp does not let other programs select a tab: update it (May 2026 or newer)";
    return { kind: "window", query: queryWindow(location, { ids: [bundleId] }), limit };
  },
  checkVisibility: (location) =>
    immediate({ kind: "window", query: queryWindow(location, { ids: [bundleId] }), isCertain: false }),
};
