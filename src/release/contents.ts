/** The files that every archive has beside the program. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { version } from "../../package.json";
import { agents } from "../agents/index.ts";
import { commandGroups } from "../cli/commands/index.ts";
import { scripts } from "../cli/completion-scripts.ts";
import type { ArchivedFile } from "./archive.ts";
import { formatManual } from "./manual.ts";
import { formatNotices, listPackages } from "./notices.ts";

const repo = resolve(import.meta.dir, "../..");

export const documentPaths = {
  licence: "LICENSE",
  notices: "THIRD_PARTY_NOTICES",
  readme: "README.md",
  manual: "man/beckon.1",
  bash: "completions/beckon.bash",
  zsh: "completions/_beckon",
  fish: "completions/beckon.fish",
} as const;

export type Documents = Readonly<Record<keyof typeof documentPaths, Buffer>>;

export function collectDocuments(date: Date): Documents {
  return {
    licence: readFileSync(join(repo, "LICENSE")),
    notices: Buffer.from(formatNotices(listPackages())),
    readme: readFileSync(join(repo, "README.md")),
    manual: Buffer.from(formatManual({ commands: commandGroups, agents, version, date })),
    bash: Buffer.from(scripts.bash),
    zsh: Buffer.from(scripts.zsh),
    fish: Buffer.from(scripts.fish),
  };
}

/** In one folder, so that unpacking does not spill files. */
export function listContents(
  folder: string,
  programs: readonly ArchivedFile[],
  documents: Documents,
): readonly ArchivedFile[] {
  const names = Object.keys(documentPaths) as (keyof Documents)[];
  const files: readonly ArchivedFile[] = [
    ...programs,
    ...names.map((name) => ({ path: documentPaths[name], bytes: documents[name] })),
  ];
  return files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
}
