/** Files that only their owner reads: prompts, commands and the token lie in them. */
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { limits } from "../core/limits.ts";
import type { Paths } from "./paths.ts";

const leftoverAgeMs = 60_000;

/** Makes the folder ours alone (0700), or says why it cannot be. */
export function makePrivateFolder(folder: string): void {
  for (let tries = 1; ; tries++) {
    try {
      makeOnce(folder);
      return;
    } catch (error) {
      // An uninstall that runs at the same time removes it while it is empty.
      if (codeOf(error) !== "ENOENT" || tries === maxTries) throw error;
    }
  }
}

const maxTries = 5;

function makeOnce(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(
      `cannot create the folder ${folder} (${codeOf(cause)}). Check what is in its place, or set BECKON_HOME to another folder.`,
      { cause },
    );
  }
  const me = process.getuid?.();
  if (me === undefined) return;
  const refuse = (what: string) =>
    new Error(
      `${folder} ${what}: beckon keeps prompts and a token there. Set BECKON_HOME to a folder of your own.`,
    );
  const link = lstatSync(folder);
  // Whoever owns a link can turn it elsewhere tomorrow.
  if (link.isSymbolicLink() && link.uid !== me && link.uid !== 0) {
    throw refuse(`is a link that belongs to user ${link.uid}, not to you (${me})`);
  }
  const target = statSync(folder);
  if (target.uid !== me) throw refuse(`belongs to user ${target.uid}, not to you (${me})`);
  if ((target.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  removeLeftovers(folder);
}

/** Of files that writePrivate writes: the folder may be the person's home, with others' files in it. */
const leftover = /^(?:auth-header|off|[\w-]+(?:\.local)?\.jsonl?)\.\d+\.tmp$/;

/** Half-written files of a process that was killed. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!leftover.test(name)) continue;
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && Math.abs(Date.now() - found.mtimeMs) > leftoverAgeMs)
      rmSync(path, { force: true });
  }
}

/** The file as it was or the file as it should be, whatever happens in between. `beforeRename` is the last step before. */
export function writePrivate(path: string, text: string | Buffer, beforeRename: () => void = () => {}): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    const fd = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    beforeRename();
    renameSync(temporary, path);
  } catch (error) {
    tryTo(() => rmSync(temporary, { force: true }));
    throw error;
  }
  tryTo(() => syncFolder(dirname(path)));
}

/** Windows, and some network folders, cannot; the file is in place all the same. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The token of this state folder; the file holds a whole header line, for `curl -H @auth-header`. */
export function loadOrCreateToken(paths: Pick<Paths, "state" | "authHeader">): string {
  makePrivateFolder(paths.state);
  const found = lstatSync(paths.authHeader, { throwIfNoEntry: false });
  if (found?.isDirectory()) {
    throw new Error(`${paths.authHeader} is a folder, and beckon's token should be there. Move it away.`);
  }
  const me = process.getuid?.();
  if (found?.isFile() && found.size < 4_096 && (me === undefined || found.uid === me)) {
    if ((found.mode & 0o077) !== 0) chmodSync(paths.authHeader, 0o600);
    const token = /^Authorization: Bearer ([\w-]+)\r?\n?$/.exec(readFileSync(paths.authHeader, "utf8"))?.[1];
    if (token && token.length >= limits.minTokenLength) return token;
  }
  const token = newSecret();
  writePrivate(paths.authHeader, `Authorization: Bearer ${token}\n`);
  return token;
}

export function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
}

export interface Endpoint {
  readonly url: string;
  readonly pid: number;
  /** Decisions are proved with it. */
  readonly key: string;
}

/** With which process of that number it is: a crash leaves the file, and the number goes to somebody else. */
export function writeEndpoint(paths: Pick<Paths, "endpoint">, { url, pid, key }: Endpoint): void {
  const birth = pid === process.pid ? ownBirth() : {};
  writePrivate(paths.endpoint, `${JSON.stringify({ url, pid, ...birth, key })}\n`);
}

/** Of /proc/PID/stat: the name, in parentheses, may hold anything; the start time is the 20th field after it. */
export function startTimeIn(stat: string): string | null {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

/** Only Linux tells. */
function ownBirth(): { start: string | null; boot: string | null } {
  const read = (path: string): string => {
    try {
      return process.platform === "linux" ? readFileSync(path, "utf8") : "";
    } catch {
      return "";
    }
  };
  const stat = read("/proc/self/stat");
  return { start: startTimeIn(stat), boot: read("/proc/sys/kernel/random/boot_id").trim() || null };
}

/** Only if it is still that of process `pid`: the next beckon may have written its own. */
export function removeEndpoint(paths: Pick<Paths, "endpoint">, pid: number = process.pid): void {
  tryTo(() => {
    const found: unknown = JSON.parse(readFileSync(paths.endpoint, "utf8"));
    if ((found as Endpoint | null)?.pid === pid) rmSync(paths.endpoint, { force: true });
  });
}

export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

export function tryTo(action: () => void): void {
  try {
    action();
  } catch {}
}
