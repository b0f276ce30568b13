/** Terminals of macOS that AppleScript steers. Values go in as arguments of the script, never into its text. */
import { wantedOf } from "./around.ts";
import { isRunning } from "./macos.ts";
import { just, type Plan, run } from "./plan.ts";
import { named, type PaneLocation, programIs, type Reached, type TerminalRow } from "./row.ts";

interface AppleApp {
  readonly name: string;
  readonly bundle: string;
  readonly program: string;
  readonly says: string;
  /**
   * `found`; `alone`: by its folder, in which it is the only one; `closed`: the application does not run; `denied`; or
   * anything else for none of these.
   */
  readonly focus: (spot: PaneLocation) => Plan<string | null>;
  /** Leads there without a permission, but nobody says whether it did. */
  readonly link?: (spot: PaneLocation) => string | null;
}

function limitOf(answer: string | null, app: string): string {
  return answer === "denied"
    ? `macOS does not let beckon control ${app}: allow it in System Settings → Privacy & Security → Automation`
    : `its tab was not found in ${app}`;
}

function* reach(spot: PaneLocation, { name, bundle, focus, link }: AppleApp): Plan<Reached> {
  const answer = yield* focus(spot);
  if (answer === "found") return { kind: "front", why: null };
  if (answer === "alone") {
    return { kind: "front", why: `${name} does not say which tab it is: this is the only one in its folder` };
  }
  // To open a link or the application would start what the person has quit.
  const runs = spot.lineage.length > 0 || (answer !== "closed" && (yield* isRunning(bundle)));
  if (!runs) return { kind: "impossible", why: `${name} is not running` };
  const url = link?.(spot) ?? null;
  if (url !== null && (yield* run(["open", url])).code === 0) {
    const asked = `${name} was asked to show its tab, and does not say whether it did`;
    return { kind: "front", why: answer === "denied" ? limitOf(answer, name) : asked };
  }
  return { kind: "window", wanted: wantedOf(spot, { ids: [bundle] }), why: limitOf(answer, name) };
}

export function appleApp(app: AppleApp): TerminalRow {
  const { name, bundle, program, says } = app;
  return {
    name,
    proven: "by documentation",
    is: named(program),
    says: (env) => programIs(env, says),
    focus: (spot, { platform }) =>
      platform === "darwin"
        ? reach(spot, app)
        : just({ kind: "impossible", why: `${name} runs on macOS only` }),
    look: (spot) => just({ kind: "window", wanted: wantedOf(spot, { ids: [bundle] }), sure: false }),
  };
}
