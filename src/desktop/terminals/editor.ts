/** A terminal inside an editor. Its window is told by the folder in its title. */
import { wantedOf } from "./around.ts";
import { just } from "./plan.ts";
import { named, type PaneLocation, type TerminalRow, type Wanted } from "./row.ts";
import { claimed } from "./shapes.ts";

interface Editor {
  readonly programs: readonly string[];
  readonly says: TerminalRow["says"];
  /** What the shell has as __CFBundleIdentifier on macOS. */
  readonly bundles: RegExp;
}

export function editor(name: string, { programs, says, bundles }: Editor): TerminalRow {
  const wantedIn = (spot: PaneLocation): Wanted => {
    const bundle = claimed(spot.env, "__CFBundleIdentifier");
    return wantedOf(spot, { ids: bundle !== null && bundles.test(bundle) ? [bundle] : [] });
  };
  return {
    name,
    proven: "by documentation",
    is: named(...programs),
    says,
    // Without the folder: one that is not the root of an open window would be opened in a new one.
    focus: (spot, { platform }) =>
      just({
        kind: "window",
        wanted: wantedIn(spot),
        why: `${name} cannot switch ${platform === "darwin" ? "windows or terminals" : "terminals"} from outside`,
      }),
    look: (spot) => just({ kind: "window", wanted: wantedIn(spot), sure: false }),
  };
}
