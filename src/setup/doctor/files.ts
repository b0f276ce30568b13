/** beckon's own files: ours alone, whole, and with room to grow. */
import { lstatSync, type Stats, statfsSync, statSync } from "node:fs";
import { createFindings, type Finding } from "../../agents/finding.ts";
import { limits } from "../../core/limits.ts";
import { watchConfig } from "../../storage/config-file.ts";
import { errorCode, readSmallFile } from "../../storage/files.ts";
import type { Paths } from "../../storage/paths.ts";

interface Held {
  readonly mode: number;
  readonly uid: number;
}

export interface FilesFacts {
  readonly folder: string;
  readonly authHeader: string;
  /** null: not there; a text: why it cannot be looked at. */
  readonly state: Held | string | null;
  readonly token: (Held & { readonly isGood: boolean }) | string | null;
  /** null: not there. A text: what is wrong with it. */
  readonly endpoint: "good" | string | null;
  readonly configProblems: readonly string[];
  readonly freeBytes: number | null;
  /** null: Windows, where modes mean nothing. */
  readonly me: number | null;
  /** The app refused the token in the file. */
  readonly isTokenRefused: boolean;
  readonly isRunning: boolean;
}

const finding = createFindings("files", "files");
const littleBytes = 200 * 1024 * 1024;

export function filesFindings(facts: FilesFacts): Finding[] {
  const { folder, state, me, isRunning } = facts;
  if (typeof state === "string") {
    return [finding("fail", "folder", `${folder} cannot be looked at (${state})`, "Check who owns it")];
  }
  if (state === null) {
    return isRunning
      ? [
          finding(
            "fail",
            "folder",
            `${folder} is gone, though beckon runs`,
            "Restart it: beckon stop, then beckon start",
          ),
        ]
      : [finding("info", "folder", `${folder} is not there yet: beckon makes it when it starts`)];
  }
  const problems = [
    ...folderFindings(state, facts),
    ...tokenFindings(facts),
    ...endpointFindings(facts),
    ...facts.configProblems.map((problem) =>
      finding("warn", "config", problem, "Correct the settings file: it is read again at once"),
    ),
    ...spaceFindings(facts),
  ];
  const whose = me === null ? "" : ", yours alone";
  return problems.length > 0
    ? problems
    : [finding("ok", "good", `${folder}${whose}; token and settings are fine`)];
}

function folderFindings(state: Held, { folder, me }: FilesFacts): Finding[] {
  if (me === null) return [];
  if (state.uid !== me) {
    const text = `${folder} belongs to user ${state.uid}, not to you (${me})`;
    return [finding("fail", "owner", text, "Set BECKON_HOME to a folder of your own")];
  }
  if ((state.mode & 0o077) === 0) return [];
  const text = `${folder} can be opened by others (${octal(state.mode)}): prompts and a token lie in it`;
  return [finding("fail", "folder-mode", text, `chmod 700 '${folder}'`)];
}

function tokenFindings({ token, authHeader, me, isRunning, isTokenRefused }: FilesFacts): Finding[] {
  const anew = "Restart it: beckon stop, then beckon start";
  if (token === null) {
    return isRunning
      ? [finding("fail", "token-gone", `${authHeader} is gone: hooks cannot get in`, anew)]
      : [];
  }
  if (typeof token === "string") {
    return [
      finding("fail", "token-unreadable", `${authHeader} cannot be read (${token})`, "Check who owns it"),
    ];
  }
  const findings: Finding[] = [];
  if (me !== null && token.uid !== me) {
    findings.push(
      finding("fail", "token-owner", `${authHeader} belongs to user ${token.uid}, not to you`, anew),
    );
  } else if (me !== null && (token.mode & 0o077) !== 0) {
    const text = `others on this machine can read your token (${authHeader} is ${octal(token.mode)})`;
    findings.push(
      finding(
        "fail",
        "token-mode",
        text,
        `chmod 600 '${authHeader}'; then delete it and restart beckon for a new one`,
      ),
    );
  }
  if (!token.isGood) {
    findings.push(finding("fail", "token-damaged", `${authHeader} holds no token`, `Delete it. ${anew}`));
  } else if (isTokenRefused) {
    const text = "the running beckon does not take the token in auth-header: hooks cannot get in";
    findings.push(finding("fail", "token-refused", text, anew));
  }
  return findings;
}

function endpointFindings({ endpoint }: FilesFacts): Finding[] {
  if (endpoint === null || endpoint === "good") return [];
  return [
    finding(
      "fail",
      "endpoint",
      `endpoint.json ${endpoint}: hooks do not find beckon`,
      "Restart it: beckon stop, then beckon start",
    ),
  ];
}

function spaceFindings({ folder, freeBytes }: FilesFacts): Finding[] {
  if (freeBytes === null || freeBytes > littleBytes) return [];
  const text = `only ${Math.floor(freeBytes / 1024 / 1024)} MB are free where ${folder} is`;
  return [
    finding(
      freeBytes < limits.maxSegmentBytes ? "fail" : "warn",
      "space",
      text,
      "Make room: events may be lost",
    ),
  ];
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

export function lookAtFiles(paths: Paths, app: Pick<FilesFacts, "isTokenRefused" | "isRunning">): FilesFacts {
  const config = watchConfig(paths.config, () => {});
  config.stop();
  return {
    ...app,
    folder: paths.state,
    authHeader: paths.authHeader,
    state: held(() => statSync(paths.state)),
    token: withToken(paths.authHeader),
    endpoint: endpointOf(paths.endpoint),
    configProblems: config.problems(),
    freeBytes: freeAt(paths.state),
    me: process.getuid?.() ?? null,
  };
}

function held(look: () => Stats): Held | string | null {
  try {
    const { mode, uid } = look();
    return { mode: mode & 0o777, uid };
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : errorCode(error);
  }
}

function withToken(path: string): FilesFacts["token"] {
  const found = held(() => lstatSync(path));
  if (found === null || typeof found === "string") return found;
  try {
    const text = readSmallFile(path, limits.maxSmallFileBytes);
    const token = /^Authorization: Bearer ([\w-]+)\r?\n?$/.exec(text)?.[1] ?? "";
    return { ...found, isGood: token.length >= limits.minTokenLength };
  } catch (error) {
    return errorCode(error);
  }
}

function endpointOf(path: string): FilesFacts["endpoint"] {
  try {
    const { url, pid } = Object(JSON.parse(readSmallFile(path, limits.maxSmallFileBytes)));
    const { protocol, hostname } = new URL(String(url));
    if (protocol !== "http:" || hostname !== "127.0.0.1") return `names ${url}, which is not this machine`;
    return Number.isInteger(pid) && pid > 0 ? "good" : "names no process";
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : "is damaged";
  }
}

function freeAt(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
