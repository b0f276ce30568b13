/** What the tests of releases share. */
import { join } from "node:path";
import { repo } from "../repo.ts";

export const readDoc = (path: string): Promise<string> => Bun.file(join(repo, path)).text();
