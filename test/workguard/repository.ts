/** A real git repository, at the times that a test wants. */
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../storage/folder.ts";

export interface Repository {
  readonly folder: string;
  path(name: string): string;
  write(name: string, text: string): void;
  git(...args: readonly string[]): string;
  /** All changes, at that wall time. */
  commit(at: number): void;
}

const env = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "a",
  GIT_AUTHOR_EMAIL: "a@b.c",
  GIT_COMMITTER_NAME: "a",
  GIT_COMMITTER_EMAIL: "a@b.c",
};

export function createRepository(at: number, files: Readonly<Record<string, string>> = {}): Repository {
  const folder = realpathSync(temporaryFolder());
  const path = (name: string): string => join(folder, name);
  function run(args: readonly string[], more: Readonly<Record<string, string>> = {}): string {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...args], {
      cwd: folder,
      env: { ...env, ...more },
    });
    if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout.toString().trim();
  }
  const repository: Repository = {
    folder,
    path,
    write(name, text) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    },
    git: (...args) => run(args),
    commit(when) {
      const date = `@${Math.floor(when / 1_000)} +0000`;
      run(["add", "--all"]);
      run(["commit", "--quiet", "--message", "x"], { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
    },
  };
  run(["init", "--quiet", "--initial-branch", "main"]);
  for (const [name, text] of Object.entries({ "a.ts": "a\n", ...files })) repository.write(name, text);
  repository.commit(at);
  return repository;
}

/** A program that leaves a mark if it runs. */
export function writeProgram(path: string, mark: string): void {
  writeFileSync(path, `#!/bin/sh\necho "$0 $*" >>'${mark}'\ncat\n`);
  chmodSync(path, 0o755);
}
