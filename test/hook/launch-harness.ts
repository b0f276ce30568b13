/** A home folder with an agent and the built beckon on a virtual screen. Stops every beckon that hooks start in it. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Paths, resolvePaths } from "../../src/storage/paths.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

export interface VirtualScreen {
  /** `:7` */
  readonly display: string;
  stop(): void;
}

export async function startScreen(): Promise<VirtualScreen> {
  const server = Bun.spawn(
    ["setpriv", "--pdeathsig", "KILL", "--", "Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-noreset"],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  // The pipe stays open: Xvfb would exit if it were closed.
  const { value } = await server.stdout.getReader().read();
  return { display: `:${new TextDecoder().decode(value).trim()}`, stop: () => server.kill() };
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};
export const readEnvironment = (pid: number): string[] =>
  read(`/proc/${pid}/environ`).split("\0").slice(0, -1);
export const readArguments = (pid: number): string[] => read(`/proc/${pid}/cmdline`).split("\0").slice(0, -1);

export type LaunchHarness = ReturnType<typeof createLaunchHarness>;

export function createLaunchHarness(
  screen: Pick<VirtualScreen, "display">,
  more: Record<string, string> = {},
) {
  const home = mkdtempSync(join(tmpdir(), "beckon-launch-"));
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    DISPLAY: screen.display,
    BECKON_PORT: String(20_000 + Math.floor(Math.random() * 40_000)),
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    ...more,
  };
  const places: Paths = resolvePaths(env);
  // The forwarder recognises the agent by its name.
  const agent = join(home, "bin/claude");
  mkdirSync(join(home, "bin"));
  copyFileSync("/bin/sh", agent);
  const known = new Set<number>();

  /** Every beckon of this home that runs now, except hooks. */
  function apps(): number[] {
    const running = readdirSync("/proc").filter((name) => {
      if (!/^\d+$/.test(name)) return false;
      const argv = readArguments(Number(name));
      return (
        argv[0]?.endsWith("/beckon") &&
        argv[1] !== "hook" &&
        readEnvironment(Number(name)).includes(`HOME=${home}`)
      );
    });
    for (const pid of running) known.add(Number(pid));
    return running.map(Number);
  }

  return {
    home,
    env,
    places,
    apps,
    /** How many apps ran so far, as far as apps() has seen them. */
    seen: () => known.size,
    payload: (session_id: string, more: object = {}) =>
      JSON.stringify({ session_id, hook_event_name: "SessionStart", source: "startup", cwd: home, ...more }),

    /** Runs a shell script as the agent. `$BECKON` is the binary. */
    agent(script: string, more: Record<string, string | undefined> = {}) {
      const whole = { ...env, BECKON: binary, ...more };
      const given = Object.fromEntries(
        Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
      return Bun.spawn([agent, "-c", `${script}\nexit $?`], {
        cwd: home,
        env: given,
        stdio: ["pipe", "pipe", "pipe"],
      });
    },

    /** Runs one hook. `first` is what the agent does before it, as its settings say. */
    async hook(payload: string, more: Record<string, string | undefined> = {}, first = "") {
      const child = this.agent(`${first}\n"$BECKON" hook claude`, more);
      child.stdin.write(payload);
      await child.stdin.end();
      const [stdout, stderr, code] = await Promise.all([
        child.stdout.text(),
        child.stderr.text(),
        child.exited,
      ]);
      return { stdout, stderr, code };
    },

    spool: (): string[] => read(places.spool).split("\n").slice(0, -1),

    async sessions(): Promise<string[]> {
      const { url } = JSON.parse(read(places.endpoint));
      const authorization = read(places.authHeader).trim().replace("Authorization: ", "");
      const listed = (await (await fetch(`${url}/api/sessions`, { headers: { authorization } })).json()) as {
        sessions: { sessionId: string }[];
      };
      return listed.sessions.map(({ sessionId }) => sessionId);
    },

    /** Waits until the app runs. Returns its pid. */
    async started(): Promise<number> {
      await waitUntil(() => existsSync(places.endpoint) && !existsSync(places.launchMarker), 10_000);
      return JSON.parse(read(places.endpoint)).pid;
    },

    async beckon(...args: string[]): Promise<string> {
      const child = Bun.spawn([binary, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
      return (await child.stdout.text()) + (await child.stderr.text());
    },

    async destroy(): Promise<void> {
      for (const pid of apps()) process.kill(pid, "SIGKILL");
      await waitUntil(() => apps().length === 0, 5_000);
      rmSync(home, { recursive: true, force: true });
    },
  };
}
