import type { TrayView } from "../../core/view/view.ts";

/** Until the first view comes. */
export const noView: TrayView = {
  icon: { phase: "calm", count: 0 },
  title: "beckon",
  tooltip: "",
  items: [],
};
