/** Opens the database file, brings its tables up to date, and sets aside a file that cannot be used. */
import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { formatFileTime } from "../core/text/paths.ts";
import { checkOwnFile, errorCode, ignoreErrors, UnsafeFileError } from "../storage/files.ts";
import { migrations } from "./schema.ts";

/** Writing is tried again later anyway. */
const busyMs = 500;
/** A larger file is not read as a whole at every start. */
const maxCheckedBytes = 32 * 1024 * 1024;
const suffixes = ["", "-wal", "-shm"] as const;
/** How many files that were set aside are kept. They are large. */
const maxSetAside = 2;

/** The file is not a database that this beckon can use. */
class UnusableDatabase extends Error {}

/** Creates the file if there is none. Throws; `isDamaged` tells whether the file itself is to blame. */
export function openDatabase(path: string): Database {
  createPrivately(path);
  const db = new Database(path, { readwrite: true, create: false, strict: true });
  return closeOnError(db, () => {
    db.run(`PRAGMA busy_timeout = ${busyMs}`);
    if (readVersion(db) === 0) prepareFile(db);
    else checkFile(db, path);
    // A killed process loses nothing. After a power failure the journal has what is missing.
    db.run("PRAGMA synchronous = NORMAL");
    // Rarer than by default: each checkpoint waits for the disk.
    db.run("PRAGMA wal_autocheckpoint = 2000");
    db.run("PRAGMA journal_size_limit = 33554432");
    // What a busy half second changes has room in it: with a third of this, most pages are written and read twice.
    db.run("PRAGMA cache_size = -12000");
    db.run("PRAGMA temp_store = MEMORY");
    migrate(db);
    return db;
  });
}

/** Before the first table: afterwards this would need a VACUUM of the whole file. */
function prepareFile(db: Database): void {
  db.run("PRAGMA auto_vacuum = INCREMENTAL");
  // An event is 1 to 2 KB.
  db.run("PRAGMA page_size = 8192");
  db.run("PRAGMA journal_mode = WAL");
}

/** Finds damage that would only be found when a query comes across it. */
function checkFile(db: Database, path: string): void {
  const { size } = statSync(path);
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!hasLog && readNumber(db, "page_count") * readNumber(db, "page_size") > size)
    throw new UnusableDatabase("it is shorter than it should be");
  if (size > maxCheckedBytes) return;
  const result = db.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
  if (result?.quick_check !== "ok") throw new UnusableDatabase("it is damaged");
}

export function readNumber(db: Database, pragma: string): number {
  return Object.values(db.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0;
}

/** For reading beside the running beckon, or while it is stopped. Throws if there is no usable file. */
export function openReadOnly(path: string): Database {
  checkOwnFile(path);
  const db = new Database(path, { readonly: true, strict: true });
  return closeOnError(db, () => {
    db.run(`PRAGMA busy_timeout = ${busyMs}`);
    if (readVersion(db) !== migrations.length) throw new UnusableDatabase("it has another version");
    return db;
  });
}

/** Windows does not rename a file that is open. */
export function closeOnError<T>(db: Database, use: () => T): T {
  try {
    return use();
  } catch (error) {
    ignoreErrors(() => db.close());
    throw error;
  }
}

/** SQLite would create the file with the user's umask, and follow a link. */
function createPrivately(path: string): void {
  checkOwnFile(path);
  if (existsSync(path)) chmodSync(path, 0o600);
  else closeSync(openSync(path, "wx", 0o600));
}

const readVersion = (db: Database): number => readNumber(db, "user_version");

function migrate(db: Database): void {
  const version = readVersion(db);
  if (version > migrations.length) throw new UnusableDatabase("it was written by a newer beckon");
  if (version === migrations.length) return;
  db.transaction(() => {
    for (const migration of migrations.slice(readVersion(db))) db.run(migration);
    db.run(`PRAGMA user_version = ${migrations.length}`);
  }).immediate();
}

/** True if the file cannot be used, now or later. False for a lock, a full disk and the like, which pass. */
export function isDamaged(error: unknown): boolean {
  if (error instanceof UnusableDatabase || error instanceof UnsafeFileError) return true;
  return /^SQLITE_(?:CORRUPT|NOTADB|ERROR|FORMAT)/.test(errorCode(error));
}

/** For users: "is locked by another program". */
export function explainError(error: unknown): string {
  const code = errorCode(error);
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return "is locked by another program";
  if (/^SQLITE_FULL|^ENOSPC|^EDQUOT/.test(code)) return "cannot grow: the disk is full";
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return `is damaged (${code})`;
  if (error instanceof UnusableDatabase || error instanceof UnsafeFileError)
    return `cannot be used: ${error.message}`;
  return `cannot be used (${code})`;
}

export function removeDatabase(path: string): void {
  for (const suffix of suffixes) rmSync(path + suffix, { force: true });
}

/** Renames the database with its side files. Returns the new name of the file. Throws if it cannot be renamed. */
export function setAside(path: string, now: Date): string {
  const stem = path.replace(/\.db$/, "");
  const target = `${stem}.damaged-${formatFileTime(now)}.db`;
  for (const suffix of suffixes) {
    try {
      renameSync(path + suffix, target + suffix);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
  removeOldest(stem);
  return basename(target);
}

function removeOldest(stem: string): void {
  const folder = dirname(stem);
  const start = `${basename(stem)}.damaged-`;
  const kept = readdirSync(folder)
    .filter((name) => name.startsWith(start) && name.endsWith(".db"))
    .sort();
  for (const name of kept.slice(0, -maxSetAside)) {
    removeDatabase(join(folder, name));
  }
}

/** Full-text tables of which single rows can be removed came with this version. */
const oldestSqlite = "3.43.0";

/** Why the history cannot be kept here; null if it can. macOS brings its own SQLite: 3.39 in macOS 13, 3.43 in macOS 14. */
export function explainOldSqlite(version: string): string | null {
  if (Bun.semver.order(version, oldestSqlite) >= 0) return null;
  const newer = process.platform === "darwin" ? "macOS 14" : `SQLite ${oldestSqlite}`;
  return `The history is off: this system's SQLite is ${version}, which is too old. It works from ${newer} on; everything else works without it.`;
}

export function readSqliteVersion(): string {
  using db = new Database(":memory:");
  return db.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()?.version ?? "";
}
