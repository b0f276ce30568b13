/** The app's icon as a file on disk: notification servers and desktop settings take a path. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import embedded from "../../assets/notification.png" with { type: "file" };
import { putFile } from "./put-file.ts";

/** Every icon theme has it. */
export const themedIcon = "dialog-information";

/** Returns its path, or null if it could not be written. */
export function writeAppIcon(folder: string): string | null {
  const path = join(folder, "beckon.png");
  try {
    putFile(path, readFileSync(embedded), 0o600);
    return path;
  } catch {
    return null;
  }
}
