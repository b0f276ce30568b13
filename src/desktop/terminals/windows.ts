/** The desktop of Windows. */
import { activateWindow, listWindows } from "./plan.ts";
import type { WindowSystemRecipe } from "./recipe.ts";

export const windows: WindowSystemRecipe = {
  list: () => listWindows(),
  *raise({ id }) {
    return (yield* activateWindow(id))
      ? null
      : "Windows kept its window in the background: it blinks in the taskbar";
  },
};
