/** The desktop of Windows. */
import { activate, windows } from "./plan.ts";
import type { WindowRow } from "./row.ts";

export const row: WindowRow = {
  name: "Windows",
  proven: "by documentation",
  rules: ({ platform }) => platform === "win32",
  *list() {
    return yield* windows();
  },
  *raise({ id }) {
    return (yield* activate(id))
      ? null
      : "Windows kept its window in the background: it blinks in the taskbar";
  },
};
