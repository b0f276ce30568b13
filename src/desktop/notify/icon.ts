/** The app's icon as a file: who shows alerts is another program, and takes a path. */
import { join } from "node:path";
import { appIcon } from "../app-icon.ts";
import { putFile } from "../put-file.ts";
import { pngOf } from "../tray/image-files.ts";

/** Most servers scale it to 32 or 48 points; dunst shows it as it is. */
const pixels = 64;
/** Every icon theme has it. */
export const themedIcon = "dialog-information";

/** null: it could not be written. */
export function alertIcon(folder: string): string | null {
  const path = join(folder, "beckon.png");
  try {
    putFile(path, pngOf(appIcon(pixels)), 0o600);
    return path;
  } catch {
    return null;
  }
}
