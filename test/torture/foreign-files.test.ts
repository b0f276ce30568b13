/** Something else in the place of each file that beckon keeps: nothing hangs, and nothing is written through a link. */
import { afterAll, expect } from "bun:test";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { resolvePaths } from "../../src/storage/paths.ts";
import { testWith } from "../needs.ts";
import type { Fixture } from "./fixture.ts";
import { prompted } from "./scenario.ts";
import { createUsedFixture, removeTemplate } from "./used-folder.ts";

/** The app ends within this time, or listens. */
const maxMs = 2_000;
const maxCommandMs = 5_000;

const { state: _, ...paths } = resolvePaths({ BECKON_HOME: "/state" });
const files = [
  ...Object.values(paths).map((path) => basename(path)),
  ...["snapshot.previous.json", "spool.jsonl.taking"],
  ...["beckon.log.1", "beckon.log.3", "decisions.jsonl.1", "decisions.jsonl.3"],
  ...["journal/0000000001.jsonl", "lock-journal", "lock-wal", "history.db-wal", "history.db-shm"],
];

const content = "mine\n";
const run = (...command: string[]) => expect(Bun.spawnSync(command).exitCode).toBe(0);

/** What can be in a file's place, made at `path`. `target` is a file of the user. */
const kinds: Readonly<Record<string, (path: string, target: string) => void>> = {
  "a link to a file": (path, target) => symlinkSync(target, path),
  "a link to nothing": (path, target) => symlinkSync(`${target}-missing`, path),
  "a hard link": (path, target) => linkSync(target, path),
  "a pipe": (path) => run("mkfifo", path),
  "a folder": (path) => {
    mkdirSync(path);
    writeFileSync(join(path, "inside"), content);
  },
  "a device": (path) => run("mknod", path, "c", "1", "7"),
};

afterAll(removeTemplate);

/** A used state folder with these files replaced. */
async function createBrokenFolder(names: readonly string[], kind: string): Promise<Fixture> {
  const broken = await createUsedFixture();
  const target = join(broken.folder, "target");
  writeFileSync(target, content, { mode: 0o644 });
  for (const name of names) {
    // Its folder was replaced before.
    if (name.startsWith("journal/") && names.includes("journal")) continue;
    rmSync(broken.inHome(name), { recursive: true, force: true });
    kinds[kind]?.(broken.inHome(name), target);
  }
  return broken;
}

function expectTargetUnchanged({ folder }: Fixture): void {
  expect(readFileSync(join(folder, "target"), "utf8")).toBe(content);
  expect(lstatSync(join(folder, "target")).mode & 0o777).toBe(0o644);
  expect(existsSync(join(folder, "target-missing"))).toBe(false);
}

/** How many of the folders that were put in a file's place still have their content. */
function countKeptFolders({ home }: Fixture): number {
  const paths = readdirSync(home, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => path.endsWith("/inside")).length;
}

/** Most of the time goes into waiting for an app to end. */
const parallel = 5;

async function forEachParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items];
  const work = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

async function checkStart(name: string, kind: string): Promise<void> {
  const broken = await createBrokenFolder([name], kind);
  try {
    const startedAt = performance.now();
    const { app, stderr, code } = await broken.tryToStart();
    expect([name, performance.now() - startedAt < maxMs]).toEqual([name, true]);
    if (app) {
      const { status } = await broken.post(prompted("third", "x"));
      // Without a folder for the journal, events wait in the spool.
      expect([name, status]).toEqual([name, name === "journal" && kind !== "a folder" ? 503 : 200]);
      expect([name, (await broken.beckon(["status"])).code]).toEqual([name, 0]);
      expect([name, await app.stop()]).toEqual([name, 0]);
    } else {
      expect([name, code]).toEqual([expect.stringMatching(/^lock/), 1]);
      expect(stderr).toContain(broken.inHome(name));
      expect(stderr).toContain("Move it away");
    }
    expectTargetUnchanged(broken);
    if (kind === "a folder") expect([name, countKeptFolders(broken)]).toEqual([name, 1]);
  } finally {
    await broken.destroy();
  }
}

for (const kind of Object.keys(kinds)) {
  const testKind = kind === "a device" ? testWith("linux", "root") : testWith("linux");
  testKind(
    `${kind} in place of any file: the app starts, or ends with a clear message`,
    async () => {
      await createUsedFixture().then((first) => first.destroy());
      await forEachParallel(files, (name) => checkStart(name, kind));
    },
    60_000,
  );

  testKind(
    `${kind} in place of every file: status, log and doctor end while beckon is stopped`,
    async () => {
      const broken = await createBrokenFolder(files, kind);
      try {
        for (const command of ["status", "log", "doctor"]) {
          const { ms, stderr } = await broken.beckon([command]);
          expect([command, ms < maxCommandMs, stderr]).toEqual([command, true, ""]);
        }
        expectTargetUnchanged(broken);
      } finally {
        await broken.destroy();
      }
    },
    20_000,
  );
}
