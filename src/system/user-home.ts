/**
 * The home folder of the user who runs beckon, according to the system: a project's settings can set HOME. (Bun's
 * os.userInfo().homedir is only what HOME says.) A hook asks at every event, so no program is run if a file has the answer.
 */

/** Returns the text of a file. */
export type ReadText = (path: string) => string | Promise<string>;

/** Without node:fs, which takes a hook 1.4 ms to load. */
const readInPool: ReadText = (path) => Bun.file(path).text();

/** Null if unknown, as on Windows, where only a variable names it. */
export async function findUserHome(readText: ReadText = readInPool): Promise<string | null> {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  if (process.platform === "darwin")
    return parseUserHome(runProgram("/usr/bin/id", "-P", String(uid)), uid, 8);
  const passwd = await readOrEmpty(readText, "/etc/passwd");
  return (
    parseUserHome(passwd, uid, 5) ??
    parseUserHome(runProgram("/usr/bin/getent", "passwd", String(uid)), uid, 5)
  );
}

/** `homeField`: which field of the user's line is the home folder, counted from 0. */
export function parseUserHome(text: string, uid: number, homeField: number): string | null {
  for (const line of text.split("\n")) {
    if (!line.includes(`:${uid}:`)) continue;
    const fields = line.split(":");
    if (fields[2] === String(uid)) return fields[homeField]?.startsWith("/") ? fields[homeField] : null;
  }
  return null;
}

async function readOrEmpty(readText: ReadText, path: string): Promise<string> {
  try {
    return await readText(path);
  } catch {
    return "";
  }
}

/** By its full path and without variables: a project's settings can set PATH too. */
function runProgram(...command: string[]): string {
  try {
    return Bun.spawnSync(command, { env: {}, timeout: 500 }).stdout.toString();
  } catch {
    return "";
  }
}
