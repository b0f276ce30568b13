/** Windows Terminal: nobody outside can choose one of its tabs. */

import { wantedOf } from "./around.ts";
import { just } from "./plan.ts";
import { named, type TerminalRow } from "./row.ts";
import { claimed } from "./shapes.ts";

export const row: TerminalRow = {
  name: "Windows Terminal",
  proven: "by documentation",
  is: named("WindowsTerminal", "WindowsTerminalPreview"),
  says: (env) => claimed(env, "WT_SESSION") !== null,
  focus: (spot, { platform }) =>
    just(
      platform === "win32"
        ? {
            kind: "window",
            wanted: wantedOf(spot),
            why: "Windows Terminal cannot switch tabs from outside",
          }
        : {
            kind: "impossible",
            why: "its window belongs to Windows, out of reach from WSL: run beckon on Windows",
          },
    ),
  look: (spot) => just({ kind: "window", wanted: wantedOf(spot), sure: false }),
};
