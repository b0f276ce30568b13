/** Checks beckon's own files: private, undamaged, and with enough disk space. */
import { lstatSync, type Stats, statfsSync, statSync } from "node:fs";
import { createFindings, type Finding } from "../../agents/finding.ts";
import { limits } from "../../core/limits.ts";
import { watchConfig } from "../../storage/config-file.ts";
import { errorCode, readOwnFile } from "../../storage/files.ts";
import type { Paths } from "../../storage/paths.ts";

interface Ownership {
  readonly mode: number;
  readonly uid: number;
}

export interface FilesFacts {
  readonly folder: string;
  readonly authHeader: string;
  /** Null if it does not exist. A string says why it cannot be read. */
  readonly state: Ownership | string | null;
  readonly token: (Ownership & { readonly isGood: boolean }) | string | null;
  /** Null if it does not exist. Any other string than "good" says what is wrong with it. */
  readonly endpoint: "good" | string | null;
  readonly configProblems: readonly string[];
  /** Folders that hooks do not use, although the variables name them. */
  readonly unknownFolders: readonly string[];
  readonly freeBytes: number | null;
  /** Null on Windows, where modes mean nothing. */
  readonly me: number | null;
  /** The app refused the token in the file. */
  readonly isTokenRefused: boolean;
  readonly isRunning: boolean;
}

const finding = createFindings("files", "files");
const minFreeBytes = 200 * 1024 * 1024;

export function checkFiles(facts: FilesFacts): Finding[] {
  const { folder, state, me, isRunning } = facts;
  if (typeof state === "string") {
    return [finding("fail", "folder", `${folder} cannot be read (${state})`, "Check who owns it")];
  }
  if (state === null) {
    return isRunning
      ? [
          finding(
            "fail",
            "folder",
            `${folder} is gone, although beckon is running`,
            "Restart it: beckon restart",
          ),
        ]
      : [finding("info", "folder", `${folder} does not exist yet: beckon creates it when it starts`)];
  }
  const problems = [
    ...folderFindings(state, facts),
    ...tokenFindings(facts),
    ...endpointFindings(facts),
    ...facts.configProblems.map((problem) =>
      finding("warn", "config", problem, "Fix the settings file. beckon reads it again at once"),
    ),
    ...facts.unknownFolders.map((unknown) =>
      finding(
        "fail",
        "unknown-folder",
        `hooks do not use ${unknown}, because you have not started beckon with these variables yet`,
        "Run: beckon restart",
      ),
    ),
    ...spaceFindings(facts),
  ];
  const access = me === null ? "" : " is private";
  return problems.length > 0
    ? problems
    : [finding("ok", "good", `${folder}${access}; token and settings are fine`)];
}

function folderFindings(state: Ownership, { folder, me }: FilesFacts): Finding[] {
  if (me === null) return [];
  if (state.uid !== me) {
    const text = `${folder} belongs to user ${state.uid}, not to you (${me})`;
    return [finding("fail", "owner", text, "Set BECKON_HOME to a folder of your own")];
  }
  if ((state.mode & 0o077) === 0) return [];
  const text = `other users can open ${folder} (${formatMode(state.mode)}), which has your prompts and token`;
  return [finding("fail", "folder-mode", text, `Run: chmod 700 '${folder}'`)];
}

function tokenFindings({ token, authHeader, me, isRunning, isTokenRefused }: FilesFacts): Finding[] {
  const restart = "Restart it: beckon restart";
  if (token === null) {
    return isRunning
      ? [finding("fail", "token-gone", `${authHeader} is gone: hooks cannot connect`, restart)]
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
      finding("fail", "token-owner", `${authHeader} belongs to user ${token.uid}, not to you`, restart),
    );
  } else if (me !== null && (token.mode & 0o077) !== 0) {
    const text = `other users can read your token (${authHeader} is ${formatMode(token.mode)})`;
    findings.push(
      finding(
        "fail",
        "token-mode",
        text,
        `Delete ${authHeader} and restart beckon, which creates a new token`,
      ),
    );
  }
  if (!token.isGood) {
    findings.push(
      finding("fail", "token-damaged", `${authHeader} contains no token`, `Delete it. ${restart}`),
    );
  } else if (isTokenRefused) {
    const text = "the running beckon refuses the token in auth-header, so hooks cannot connect";
    findings.push(finding("fail", "token-refused", text, restart));
  }
  return findings;
}

function endpointFindings({ endpoint }: FilesFacts): Finding[] {
  if (endpoint === null || endpoint === "good") return [];
  return [
    finding(
      "fail",
      "endpoint",
      `endpoint.json ${endpoint}, so hooks cannot find beckon`,
      "Restart it: beckon restart",
    ),
  ];
}

function spaceFindings({ folder, freeBytes }: FilesFacts): Finding[] {
  if (freeBytes === null || freeBytes > minFreeBytes) return [];
  const text = `only ${Math.floor(freeBytes / 1024 / 1024)} MB are free on the disk of ${folder}`;
  return [
    finding(
      freeBytes < limits.maxSegmentBytes ? "fail" : "warn",
      "space",
      text,
      "Free some space, or events may be lost",
    ),
  ];
}

const formatMode = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

export function readFilesFacts(
  paths: Paths,
  app: Pick<FilesFacts, "isTokenRefused" | "isRunning" | "unknownFolders">,
): FilesFacts {
  const config = watchConfig(paths.config);
  config.stop();
  return {
    ...app,
    folder: paths.state,
    authHeader: paths.authHeader,
    state: readOwnership(() => statSync(paths.state)),
    token: readTokenFacts(paths.authHeader),
    endpoint: checkEndpointFile(paths.endpoint),
    configProblems: config.problems(),
    freeBytes: readFreeBytes(paths.state),
    me: process.getuid?.() ?? null,
  };
}

function readOwnership(read: () => Stats): Ownership | string | null {
  try {
    const { mode, uid } = read();
    return { mode: mode & 0o777, uid };
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : errorCode(error);
  }
}

function readTokenFacts(path: string): FilesFacts["token"] {
  const ownership = readOwnership(() => lstatSync(path));
  if (ownership === null || typeof ownership === "string") return ownership;
  try {
    const text = readOwnFile(path, limits.maxSmallFileBytes);
    const token = /^Authorization: Bearer ([\w-]+)\r?\n?$/.exec(text)?.[1] ?? "";
    return { ...ownership, isGood: token.length >= limits.minTokenLength };
  } catch (error) {
    return errorCode(error);
  }
}

function checkEndpointFile(path: string): FilesFacts["endpoint"] {
  try {
    const { url, pid } = Object(JSON.parse(readOwnFile(path, limits.maxSmallFileBytes)));
    const { protocol, hostname } = new URL(String(url));
    if (protocol !== "http:" || hostname !== "127.0.0.1") return `names ${url}, which is not this machine`;
    return Number.isInteger(pid) && pid > 0 ? "good" : "names no process";
  } catch (error) {
    return errorCode(error) === "ENOENT" ? null : "is damaged";
  }
}

function readFreeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return null;
  }
}
