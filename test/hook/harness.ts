/** A state folder, a receiver and real forwarder processes, for the tests of both forwarders. */
import { expect } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordFolder } from "../known-folder.ts";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly text: string;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

// biome-ignore lint/suspicious/noExplicitAny: what a forwarder sent; each test checks it.
type Envelope = any;

export const isLinux = process.platform === "linux";
export const beckonHook = [process.execPath, join(import.meta.dir, "../fixtures/hook-entry.ts")];

export const token = "t".repeat(43);
export const event = {
  session_id: "06c75a06-35e5-4fac-b012-e960f4753e79",
  hook_event_name: "PreToolUse",
  cwd: "/home/dev/proj",
  tool_name: "Bash",
  tool_input: { command: 'echo "a\\b" > x' },
};

export function createHarness() {
  const home = mkdtempSync(join(tmpdir(), "beckon-hook-test-"));
  const user = mkdtempSync(join(tmpdir(), "beckon-hook-user-"));
  const inHome = (name: string) => join(home, name);
  const read = (name: string) => (existsSync(inHome(name)) ? readFileSync(inHome(name), "utf8") : "");
  const stops: (() => void)[] = [];

  return {
    home,
    /** The user's home folder. */
    user,
    inHome,
    write: (name: string, text: string) => writeFileSync(inHome(name), text),
    spool: (): string[] => read("spool.jsonl").split("\n").slice(0, -1),
    log: (): string => read("hook.log"),

    forward: (
      stdin: string | Uint8Array,
      env: Record<string, string> = {},
      args: string[] = [],
      cwd?: string,
    ) => run([...beckonHook, ...args], environment(home, { HOME: user, ...env }), stdin, cwd),

    /** A server on the socket in the folder. `abandon` ends it as a crash does: the socket stays. */
    socket(status = 200) {
      const path = inHome("hook.sock");
      const received: ReceivedRequest[] = [];
      const serve = (unix: string) =>
        Bun.serve({
          unix,
          fetch: (request) => record(request, received, new Response('{"ok":true}', { status })),
        });
      const server = serve(path);
      stops.push(() => server.stop(true));
      const abandon = async () => {
        const kept = `${path}.kept`;
        renameSync(path, kept);
        await server.stop(true);
        if (existsSync(kept)) renameSync(kept, path);
      };
      return { received, abandon };
    },

    /** A server that answers each request with that status, announced in the folder as beckon. */
    receiver(status = 200, hostname = "127.0.0.1", answer = '{"ok":true}') {
      const received: ReceivedRequest[] = [];
      const server = Bun.serve({
        hostname,
        port: 0,
        maxRequestBodySize: 64 * 1024 * 1024,
        fetch: (request) => record(request, received, new Response(answer, { status })),
      });
      stops.push(() => server.stop(true));
      this.announce(server.port ?? 0);
      return { received, port: server.port ?? 0 };
    },

    /** Accepts connections and passes their data on, announced in the folder as beckon. */
    listener(onData: (socket: Bun.Socket) => void) {
      const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: onData } });
      stops.push(() => server.stop(true));
      this.announce(server.port);
    },

    announce(port: number, pid: unknown = process.pid, more: object = {}) {
      const endpoint = { url: `http://127.0.0.1:${port}`, pid, ...more };
      writeFileSync(inHome("endpoint.json"), JSON.stringify(endpoint));
      writeFileSync(inHome("auth-header"), `Authorization: Bearer ${token}\n`);
    },

    destroy() {
      for (const stop of stops) stop();
      for (const folder of [home, user]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function record(request: Request, received: ReceivedRequest[], response: Response): Promise<Response> {
  const headers = Object.fromEntries(request.headers);
  const { pathname, search } = new URL(request.url);
  received.push({ path: pathname + search, headers, text: await request.text() });
  return response;
}

/** What can be in the place of a file, and would keep a careless reader waiting. */
export const unusualFiles: Record<string, (path: string) => void> = {
  "a pipe": (path) => void Bun.spawnSync(["mkfifo", path]),
  "a folder": (path) => mkdirSync(path),
  "a link to /dev/zero": (path) => symlinkSync("/dev/zero", path),
  "a hole of 2 GB": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 31);
  },
};

export type Harness = ReturnType<typeof createHarness>;

/** Without the variables of the tests' own terminal, agent or proxy. Bun would put its cache of transpiled files into HOME. */
export function environment(home: string, more: Record<string, string> = {}): Record<string, string> {
  recordFolder(more.HOME ?? home, home);
  const own = { PATH: process.env.PATH ?? "", HOME: home, BECKON_HOME: home };
  return { ...own, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0", ...more };
}

export function start(command: string[], env: Record<string, string>, cwd?: string) {
  return Bun.spawn(command, { env, ...(cwd ? { cwd } : {}), stdin: "pipe", stdout: "pipe", stderr: "pipe" });
}

export async function run(
  command: string[],
  env: Record<string, string>,
  stdin: string | Uint8Array,
  cwd?: string,
): Promise<CommandResult> {
  const before = performance.now();
  const child = start(command, env, cwd);
  child.stdin.write(stdin);
  await child.stdin.end();
  return finish(child, before);
}

export async function finish(child: ReturnType<typeof start>, before: number): Promise<CommandResult> {
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr, ms: performance.now() - before };
}

/** True once the process has set up its signal handlers. Linux only. */
export function catchesSigterm(pid: number): boolean {
  const caught = /^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${caught}`) & (1n << 14n)) !== 0n;
}

export function parseEnvelope(text: string | undefined): Envelope {
  return JSON.parse(text ?? "null");
}

/** The user's terminal or the model would see any other output. */
/** Without an error, one event has arrived as the app expects it. */
export function expectOneEvent(result: CommandResult, received: readonly ReceivedRequest[]): void {
  expectNoOutput(result);
  expect(result.stderr).toBe("");
  expect(received).toHaveLength(1);
  expect(received[0]?.path).toBe("/api/hook");
  expect(received[0]?.headers.authorization).toBe(`Bearer ${token}`);
  expect(received[0]?.headers["content-type"]).toBe("application/json");
}

/** Without an error, `event` is in the spool of a folder that only the user can read. */
export function expectPrivateSpool(result: CommandResult, home: string): void {
  expectNoOutput(result);
  expect(result.stderr).toBe("");
  const spool = join(home, "spool.jsonl");
  expect(parseEnvelope(readFileSync(spool, "utf8")).payload).toEqual(event);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  expect(statSync(spool).mode & 0o777).toBe(0o600);
}

export function expectNoOutput(ran: CommandResult): void {
  expect(ran.stdout).toBe("");
  expect(ran.code).toBe(0);
}
