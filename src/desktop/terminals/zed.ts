/** Zed. */
import { editor } from "./editor.ts";
import { programIs } from "./row.ts";

export const row = editor("Zed", {
  programs: ["zed", "zed-editor", "zeditor"],
  says: (env) => programIs(env, "zed"),
  bundles: /^dev\.zed\.Zed(?:-Preview)?$/,
});
