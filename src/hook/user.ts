/** The user who runs the hook, according to the system. Bun's os.userInfo().homedir is only what HOME says. */
import { readFileSync } from "node:fs";

/** Null if unknown, as on Windows, where only a variable names it. */
export function findUserHome(): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  if (process.platform === "darwin")
    return parseUserHome(runProgram("/usr/bin/id", "-P", String(uid)), uid, 8);
  return (
    parseUserHome(readPasswd(), uid, 5) ??
    parseUserHome(runProgram("/usr/bin/getent", "passwd", String(uid)), uid, 5)
  );
}

/** `homeField`: which field of the user's line is the home folder, counted from 0. */
export function parseUserHome(text: string, uid: number, homeField: number): string | null {
  for (const line of text.split("\n")) {
    const fields = line.split(":");
    if (fields[2] === String(uid)) return fields[homeField]?.startsWith("/") ? fields[homeField] : null;
  }
  return null;
}

function readPasswd(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
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
