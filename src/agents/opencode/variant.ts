/** opencode itself, or a fork of it: what differs between them. Everything else they share. */

export interface OpencodeVariant {
  /** Also the name of its program and of its folder in ~/.config. */
  readonly id: string;
  readonly name: string;
  /** The variable with the user's choice of its folder. */
  readonly folderVariable: string;
  /** What it installs from the npm registry before it runs any plugin. */
  readonly pluginPackage: string;
  /** Where its own installer puts the program, below the home folder. null if that is not known. */
  readonly ownPath: string | null;
}
