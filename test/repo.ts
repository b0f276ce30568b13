/** Where tests find what they run. The only file in test/ that knows where the repository keeps these. */
import { join } from "node:path";

export const repo = join(import.meta.dir, "..");
/** The program as source, for `bun`. */
export const mainSource = join(repo, "src/main.ts");
/** The program that build.ts made. */
export const binary = join(repo, "dist", process.platform === "win32" ? "beckon.exe" : "beckon");
