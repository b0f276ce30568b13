import type { TrayView } from "../../core/view/view.ts";

/** What a tray shows until it gets its first view. */
export const emptyView: TrayView = {
  icon: { phase: "calm", count: 0 },
  title: "beckon",
  tooltip: "",
  items: [],
  leftClick: "menu",
};
