/** Terminals in which only the window can be selected: those with one session in each window, and those whose tabs are out of reach. */
import { queryWindow } from "./lineage.ts";
import { immediate } from "./plan.ts";
import {
  type FocusRecipe,
  inApplications,
  type PaneLocation,
  type Terminal,
  type TerminalDescription,
  type WindowQuery,
} from "./terminal.ts";
import { commonVariables, digits, readVariable, uuid } from "./variables.ts";

/** A terminal with tabs that cannot be selected from outside. */
const tabbed = { kind: "terminal", reach: "window", isTested: false } as const;
/** A terminal that shows one session in each window. */
const single = { kind: "terminal", reach: "single" } as const;

const descriptions: readonly (TerminalDescription & { readonly reach: "single" | "window" })[] = [
  {
    name: "VS Code",
    ...tabbed,
    kind: "editor",
    processes: [
      ...["code", "code-insiders", "codium", "code-oss", "Code Helper", "Code Helper (Plugin)", "Electron"],
      ...["cursor", "Cursor Helper", "Cursor Helper (Plugin)"],
      ...["windsurf", "positron", "trae", "antigravity"],
    ],
    termProgram: "vscode",
    variables: { CURSOR_TRACE_ID: /^[\w-]{1,100}$/ },
    variant: { variable: "CURSOR_TRACE_ID", name: "Cursor" },
    bundleIds:
      /^(?:com\.microsoft\.VSCode(?:Insiders)?|com\.visualstudio\.code\.oss|com\.vscodium|com\.todesktop\.[0-9a-z]+|com\.exafunction\.windsurf)$/,
    commands: ["code", "codium", "cursor", "windsurf"],
    macApps: [inApplications("Visual Studio Code"), inApplications("Cursor")],
    remark: "Also Cursor, Windsurf and VSCodium",
  },
  {
    name: "JetBrains",
    ...tabbed,
    kind: "editor",
    processes: [
      ...["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm", "rubymine", "rustrover"],
      ...["datagrip", "studio"],
      ...["idea64", "pycharm64", "webstorm64", "goland64", "clion64", "rider64", "phpstorm64"],
      "rustrover64",
    ],
    terminalEmulator: "JetBrains-JediTerm",
    bundleIds: /^com\.(?:jetbrains\.[A-Za-z.-]+|google\.android\.studio)$/,
    commands: ["idea", "pycharm", "webstorm", "goland", "clion", "rider", "phpstorm", "rustrover"],
  },
  {
    name: "Zed",
    ...tabbed,
    kind: "editor",
    processes: ["zed", "zed-editor", "zeditor"],
    termProgram: "zed",
    bundleIds: /^dev\.zed\.Zed(?:-Preview)?$/,
    commands: ["zed", "zeditor"],
    macApps: [inApplications("Zed")],
  },
  { name: "xterm", ...single, processes: ["xterm"], commands: ["xterm"], isTested: true },
  {
    name: "Alacritty",
    ...single,
    processes: ["alacritty"],
    term: "alacritty",
    variables: { ALACRITTY_WINDOW_ID: digits(19) },
    ownVariables: ["ALACRITTY_WINDOW_ID"],
    sessionVariable: "ALACRITTY_WINDOW_ID",
    windowIdVariable: "ALACRITTY_WINDOW_ID",
    bundleId: "org.alacritty",
    commands: ["alacritty"],
    macApps: [inApplications("Alacritty")],
    isTested: true,
  },
  {
    name: "foot",
    ...single,
    processes: ["foot", "footclient"],
    term: "foot",
    commands: ["foot"],
    isTested: true,
  },
  {
    name: "urxvt",
    ...single,
    processes: ["urxvt", "rxvt", "urxvtd"],
    commands: ["urxvt"],
    isTested: false,
  },
  { name: "st", ...single, processes: ["st"], commands: ["st"], isTested: false },
  { name: "mlterm", ...single, processes: ["mlterm"], commands: ["mlterm"], isTested: false },
  {
    name: "Xfce Terminal",
    ...tabbed,
    processes: ["xfce4-terminal"],
    commands: ["xfce4-terminal"],
  },
  {
    name: "MATE Terminal",
    ...tabbed,
    processes: ["mate-terminal"],
    commands: ["mate-terminal"],
  },
  { name: "LXTerminal", ...tabbed, processes: ["lxterminal"], commands: ["lxterminal"] },
  { name: "QTerminal", ...tabbed, processes: ["qterminal"], commands: ["qterminal"] },
  {
    name: "Terminator",
    ...tabbed,
    processes: ["terminator"],
    ownVariables: ["TERMINATOR_UUID"],
    variables: { TERMINATOR_UUID: new RegExp(`^urn:uuid:${uuid}$`) },
    commands: ["terminator"],
  },
  {
    name: "Tilix",
    ...tabbed,
    processes: ["tilix"],
    ownVariables: ["TILIX_ID"],
    variables: { TILIX_ID: new RegExp(`^${uuid}$`) },
    commands: ["tilix"],
  },
  { name: "Ptyxis", ...tabbed, processes: ["ptyxis", "ptyxis-agent"], commands: ["ptyxis"] },
  { name: "GNOME Console", ...tabbed, processes: ["kgx"], commands: ["kgx"] },
  {
    name: "Rio",
    ...tabbed,
    processes: ["rio"],
    termProgram: "rio",
    bundleId: "com.raphaelamorim.rio",
    commands: ["rio"],
  },
  {
    name: "Tabby",
    ...tabbed,
    processes: ["tabby"],
    termProgram: "Tabby",
    bundleId: "org.tabby",
    commands: ["tabby"],
  },
  {
    name: "Hyper",
    ...tabbed,
    processes: ["hyper"],
    termProgram: "Hyper",
    bundleId: "co.zeit.hyper",
    commands: ["hyper"],
  },
];

export function createWindowRecipe(terminal: TerminalDescription): FocusRecipe {
  const isSingle = terminal.reach === "single";
  const query = (location: PaneLocation): WindowQuery =>
    queryWindow(location, { ids: windowIds(terminal, location) });
  return {
    focus: (location, { platform }) =>
      immediate({
        kind: "window",
        query: query(location),
        limit: isSingle ? null : limitOf(terminal, platform),
      }),
    checkVisibility: (location) => immediate({ kind: "window", query: query(location), isCertain: isSingle }),
  };
}

function windowIds(
  { kind, variables = {}, windowIdVariable, bundleId, bundleIds }: TerminalDescription,
  { env }: PaneLocation,
): string[] {
  const bundle = readVariable(env, commonVariables, "__CFBundleIdentifier");
  // A window of an editor is found by the folder in its title.
  if (kind === "editor") return bundle !== null && bundleIds?.test(bundle) ? [bundle] : [];
  const ids = [
    readVariable(env, commonVariables, "WINDOWID"),
    windowIdVariable === undefined ? null : readVariable(env, variables, windowIdVariable),
    bundleId ?? null,
  ];
  return ids.filter((id) => id !== null);
}

function limitOf({ kind, name }: TerminalDescription, platform: NodeJS.Platform): string {
  if (kind !== "editor") return `${name} does not let other programs select a tab`;
  const part = platform === "darwin" ? "a window or terminal" : "a terminal";
  return `${name} does not let other programs select ${part} in it`;
}

export const windowOnlyTerminals: readonly Terminal[] = descriptions.map((description) => ({
  ...description,
  ...createWindowRecipe(description),
}));
