/** The real app in this process, and real hooks that wait for its answer. */
import { join } from "node:path";
import type { AskSnapshot, SessionSnapshot } from "../../src/core/view/snapshot.ts";
import { createWorld, until } from "../world.ts";

const hookEntry = join(import.meta.dir, "../fixtures/hook-entry.ts");

export const request = (session_id: string, more: Record<string, unknown> = {}) => ({
  session_id,
  hook_event_name: "PermissionRequest",
  cwd: "/home/dev/shop-api",
  permission_mode: "default",
  tool_name: "Bash",
  tool_input: { command: "npm test" },
  permission_suggestions: [
    {
      type: "addRules",
      rules: [{ toolName: "Bash", ruleContent: "npm test" }],
      behavior: "allow",
      destination: "localSettings",
    },
  ],
  ...more,
});

export interface Hook {
  readonly pid: number;
  /** What it has printed, once it has ended. */
  readonly printed: Promise<string>;
  readonly exited: Promise<number>;
  isRunning(): boolean;
  signal(signal: NodeJS.Signals): void;
}

export type HeldWorld = ReturnType<typeof createHeldWorld>;

export function createHeldWorld() {
  const world = createWorld();
  const hooks: Hook[] = [];

  function hook(payload: object, env: Record<string, string> = {}): Hook {
    const child = Bun.spawn([process.execPath, hookEntry, "claude"], {
      env: {
        ...world.env,
        CLAUDE_CODE_SESSION_ATTENDED: "1",
        CLAUDE_PROJECT_DIR: "/home/dev/shop-api",
        ...env,
      },
      stdin: new Blob([JSON.stringify(payload)]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const started: Hook = {
      pid: child.pid,
      printed: new Response(child.stdout).text(),
      exited: child.exited,
      isRunning: () => child.exitCode === null && child.signalCode === null,
      signal: (signal) => child.kill(signal),
    };
    hooks.push(started);
    return started;
  }

  const open = async (id: string): Promise<SessionSnapshot> =>
    (await (await world.request(`/api/sessions/${id}`)).json()) as SessionSnapshot;

  return {
    ...world,
    hook: undefined as never,
    /** What `beckon` is here. */
    command: [process.execPath, join(import.meta.dir, "../../src/main.ts")],
    permission: hook,
    open,
    /** Once its line is held. */
    async answerable(id: string, count = 1): Promise<Required<AskSnapshot>> {
      const asks = async () => ((await open(id)).asks ?? []).filter(({ answerable }) => answerable);
      await until(async () => (await asks()).length === count, 5_000);
      return (await asks()).at(-1) as Required<AskSnapshot>;
    },
    answer: async (id: string, given: object) => {
      const response = await world.post(given, `/api/sessions/${id}/answer`);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    send: (event: Record<string, unknown>, meta: Record<string, unknown> = {}) =>
      world.post({ provider: "claude", _meta: { id: crypto.randomUUID(), ...meta }, payload: event }),
    async destroy() {
      for (const one of hooks) if (one.isRunning()) one.signal("SIGKILL");
      await Promise.all(hooks.map(({ exited }) => exited));
      await world.destroy();
    },
  };
}

export const decisionOf = (printed: string) => JSON.parse(printed).hookSpecificOutput.decision;
