/** VS Code and its family. */
import { editor } from "./editor.ts";
import { programIs } from "./row.ts";

export const row = editor("VS Code", {
  programs: [
    "code",
    "code-insiders",
    "codium",
    "code-oss",
    "cursor",
    "windsurf",
    "positron",
    "trae",
    "antigravity",
    "Code Helper",
    "Code Helper (Plugin)",
    "Cursor Helper",
    "Cursor Helper (Plugin)",
    "Electron",
  ],
  says: (env) => programIs(env, "vscode"),
  bundles:
    /^(?:com\.microsoft\.VSCode(?:Insiders)?|com\.visualstudio\.code\.oss|com\.vscodium|com\.todesktop\.[0-9a-z]+|com\.exafunction\.windsurf)$/,
});
