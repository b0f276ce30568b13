/** Terminals that AppleScript controls on macOS. Values go in as arguments of the script, never into its text. */
import { queryWindow } from "./lineage.ts";
import { isRunning } from "./macos.ts";
import { immediate, type Plan, run } from "./plan.ts";
import {
  type FocusRecipe,
  type FocusResult,
  impossible,
  type PaneLocation,
  type TerminalDescription,
} from "./terminal.ts";

type AppleApp = TerminalDescription & { readonly bundleId: string };

interface AppleScripting {
  /**
   * What the script returns. `found`: the tab is shown. `alone`: the only tab in the session's folder is shown. `closed`:
   * the application does not run. `denied`: the user has not allowed it. Anything else: the tab was not found.
   */
  readonly focus: (location: PaneLocation) => Plan<string | null>;
  /** A link that shows the tab without a permission, but does not confirm it. */
  readonly link?: (location: PaneLocation) => string | null;
}

export function createAppleRecipe(app: AppleApp, scripting: AppleScripting): FocusRecipe {
  return {
    focus: (location, { platform }) =>
      platform === "darwin"
        ? planAppleFocus(location, app, scripting)
        : immediate(impossible(`${app.name} runs on macOS only`)),
    checkVisibility: (location) =>
      immediate({ kind: "window", query: queryWindow(location, { ids: [app.bundleId] }), isCertain: false }),
  };
}

function* planAppleFocus(
  location: PaneLocation,
  { name, bundleId }: AppleApp,
  { focus, link }: AppleScripting,
): Plan<FocusResult> {
  const answer = yield* focus(location);
  if (answer === "found") return { kind: "front", limit: null };
  if (answer === "alone") {
    const limit = `${name} does not say which tab it is: this is the only one in its folder`;
    return { kind: "front", limit };
  }
  // Opening a link or the application would start an application that the user has quit.
  const runs = location.lineage.length > 0 || (answer !== "closed" && (yield* isRunning(bundleId)));
  if (!runs) return impossible(`${name} is not running`);
  const url = link?.(location) ?? null;
  if (url !== null && (yield* run(["open", url])).code === 0) {
    const unconfirmed = `${name} was asked to show its tab, but does not confirm that it did`;
    return { kind: "front", limit: answer === "denied" ? notFoundLimit(answer, name) : unconfirmed };
  }
  const query = queryWindow(location, { ids: [bundleId] });
  return { kind: "window", query, limit: notFoundLimit(answer, name) };
}

function notFoundLimit(answer: string | null, app: string): string {
  return answer === "denied"
    ? `macOS does not let beckon control ${app}: allow it in System Settings → Privacy & Security → Automation`
    : `its tab was not found in ${app}`;
}
