/** A home folder with an installed beckon, and a server with the files of releases. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../../package.json";
import type { SessionView } from "../../src/core/view/session-view.ts";
import { encodeTar } from "../../src/release/archive.ts";
import { gzip, quickest } from "../../src/release/compress.ts";
import { describeFile, formatManifest } from "../../src/release/manifest.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { binary } from "../repo.ts";

/** Says that it is of another version, and is this beckon otherwise. It leaves hooks and record as they are: it would name `binary` in them. */
const scriptOf = (says: string): string =>
  `#!/bin/sh\ncase $1 in --version) echo "beckon ${says}" ;; --install) ;; *) exec ${binary} "$@" ;; esac\n`;

export const archiveName = `beckon-linux-${process.arch}.tar.gz`;

/** The files of a release with this program. */
export async function packRelease(program: Buffer | string, says: string): Promise<Record<string, Buffer>> {
  const path = `${archiveName.replace(".tar.gz", "")}/beckon`;
  const archive = await gzip(
    encodeTar([{ path, bytes: Buffer.from(program), isExecutable: true }], 0),
    quickest,
  );
  const manifest = {
    version: says,
    bun: Bun.version,
    commit: "0".repeat(40),
    files: [describeFile(archiveName, archive)],
  };
  return { [archiveName]: archive, "manifest.json": Buffer.from(formatManifest(manifest)) };
}

export type Installation = Awaited<ReturnType<typeof createInstallation>>;

/** An older beckon is installed, and connected with Claude Code. */
export async function createInstallation(older = "0.0.9") {
  const home = mkdtempSync(join(tmpdir(), "beckon-update-"));
  const env: Record<string, string> = {
    HOME: home,
    PATH: process.env.PATH ?? "",
    BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
  };
  const paths = resolvePaths(env, "linux");
  const installed = join(home, ".local/bin/beckon");
  mkdirSync(dirname(installed), { recursive: true });
  const releases = new Map<string, Readonly<Record<string, Buffer | (() => Response)>>>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const [, release = "", file = ""] = new URL(request.url).pathname.split("/");
      const found = releases.get(release)?.[file];
      if (typeof found === "function") return found();
      return found ? new Response(new Uint8Array(found)) : new Response("no", { status: 404 });
    },
  });

  const start = (command: readonly string[], more: Record<string, string> = {}) =>
    Bun.spawn([...command], {
      env: { ...env, ...more },
      cwd: home,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  async function run(command: readonly string[], more: Record<string, string> = {}) {
    const child = start(command, more);
    const [stdout, stderr, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  }
  const beckon = (...args: string[]) => run([installed, ...args]);
  const readEndpoint = (): { url: string; pid: number } => JSON.parse(readFileSync(paths.endpoint, "utf8"));
  const request = (path: string, init: RequestInit = {}) =>
    fetch(readEndpoint().url + path, {
      ...init,
      headers: {
        authorization: readFileSync(paths.authHeader, "utf8").trim().replace("Authorization: ", ""),
        "content-type": "application/json",
      },
    });

  copyFileSync(binary, installed);
  const connected = await beckon("--install", "--placed", "--no-start", "--agent", "claude");
  if (connected.code !== 0) throw new Error(connected.stderr);
  writeFileSync(installed, scriptOf(older));
  chmodSync(installed, 0o755);

  return {
    home,
    env,
    paths,
    installed,
    start,
    run,
    beckon,
    readEndpoint,
    request,
    offer: (name: string, files: Readonly<Record<string, Buffer | (() => Response)>>) =>
      releases.set(name, files),
    urlOf: (name: string): string => `http://127.0.0.1:${server.port}/${name}`,
    /** Runs `beckon update` against one of the releases. */
    update: (release: string, ...args: string[]) =>
      run([installed, "update", ...args], {
        BECKON_DOWNLOAD_URL: `http://127.0.0.1:${server.port}/${release}`,
      }),
    readVersion: async () => (await beckon("--version")).stdout.trim(),
    listPrograms: (): string[] => readdirSync(dirname(installed)).sort(),
    async fetchSession(id: string): Promise<SessionView | undefined> {
      const { sessions } = (await (await request("/api/sessions")).json()) as { sessions: SessionView[] };
      return sessions.find(({ sessionId }) => sessionId === id);
    },
    async destroy(): Promise<void> {
      if (existsSync(paths.endpoint)) await run([binary, "stop"]);
      await server.stop(true);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A program that says a version, and cannot run the app. */
export const brokenProgram = (says: string): string =>
  `#!/bin/sh\nif [ "$1" = --version ]; then echo "beckon ${says}"; else echo "it cannot start" >&2; exit 3; fi\n`;

export const ownVersion = `beckon ${version}`;
export const olderVersion = "beckon 0.0.9";
