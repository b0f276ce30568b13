/** Terminals that AppleScript controls on macOS. Values go in as arguments of the script, never into its text. */
import { queryWindow } from "./lineage.ts";
import { isRunning } from "./macos.ts";
import { immediate, type Plan, run } from "./plan.ts";
import {
  type FocusRecipe,
  type FocusResult,
  impossible,
  notVisible,
  type PaneLocation,
  type TerminalDescription,
  type Visibility,
  visibilityUnknown,
} from "./terminal.ts";
import { isTtyPath } from "./variables.ts";

type AppleApp = TerminalDescription & { readonly bundleId: string };

interface AppleScripting {
  /**
   * What the script returns. `found`: the tab is shown. `alone`: the only tab in the session's folder is shown. `closed`:
   * the application does not run. `denied`: the user has not allowed it. `asking`: macOS asks them now. Anything else: the tab
   * was not found.
   */
  readonly focus: (location: PaneLocation) => Plan<string | null>;
  /** The tty of what the front window shows; empty or null if unknown. */
  readonly findFrontTty: () => Plan<string | null>;
  /** A link that shows the tab without a permission, but does not confirm it. */
  readonly link?: (location: PaneLocation) => string | null;
}

export function createAppleRecipe(app: AppleApp, scripting: AppleScripting): FocusRecipe {
  return {
    focus: (location, { platform }) =>
      platform === "darwin"
        ? planAppleFocus(location, app, scripting)
        : immediate(impossible(`${app.name} runs on macOS only`)),
    checkVisibility: (location, { platform }) =>
      platform === "darwin" ? planAppleVisibility(location, app, scripting) : immediate(visibilityUnknown),
  };
}

function* planAppleVisibility(
  location: PaneLocation,
  { bundleId }: AppleApp,
  { findFrontTty }: AppleScripting,
): Plan<Visibility> {
  const shown = isTtyPath(location.tty) ? yield* findFrontTty() : null;
  if (isTtyPath(shown) && shown !== location.tty) return notVisible;
  const query = queryWindow(location, { ids: [bundleId] });
  return { kind: "window", query, isCertain: isTtyPath(shown) };
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
    const isAnswered = answer !== "denied" && answer !== "asking";
    return { kind: "front", limit: isAnswered ? unconfirmed : notFoundLimit(answer, name) };
  }
  const query = queryWindow(location, { ids: [bundleId] });
  return { kind: "window", query, limit: notFoundLimit(answer, name) };
}

function notFoundLimit(answer: string | null, app: string): string {
  if (answer === "asking")
    return `macOS asks whether beckon may control ${app}: allow it, then go there again`;
  return answer === "denied"
    ? `macOS does not let beckon control ${app}: allow it in System Settings → Privacy & Security → Automation`
    : `its tab was not found in ${app}`;
}
