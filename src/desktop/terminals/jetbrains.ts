/** The editors of JetBrains. */
import { editor } from "./editor.ts";
import { claimed } from "./shapes.ts";

export const row = editor("JetBrains", {
  programs: [
    "idea",
    "pycharm",
    "webstorm",
    "goland",
    "clion",
    "rider",
    "phpstorm",
    "rubymine",
    "rustrover",
    "datagrip",
    "studio",
    "idea64",
    "pycharm64",
    "webstorm64",
    "goland64",
    "clion64",
    "rider64",
    "phpstorm64",
    "rustrover64",
  ],
  says: (env) => claimed(env, "TERMINAL_EMULATOR") === "JetBrains-JediTerm",
  bundles: /^com\.(?:jetbrains\.[A-Za-z.-]+|google\.android\.studio)$/,
});
