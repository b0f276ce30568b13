/** The page's files, from source. In the binary, build.ts puts a module with the bundled files in place of this one. */
import { bundlePage, type PageBundle } from "./bundle.ts";

let bundled: Promise<PageBundle> | null = null;

export function loadPage(): Promise<PageBundle> {
  bundled ??= bundlePage();
  return bundled;
}
