/** The real app in this process, and real forwarders that wait for its answer. */
import { join } from "node:path";
import type { AskView, SessionView } from "../../src/core/view/session-view.ts";
import { createAppFixture } from "../app-fixture.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const hookEntry = join(import.meta.dir, "../fixtures/hook-entry.ts");

export const createRequest = (session_id: string, more: Record<string, unknown> = {}) => ({
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
  /** Its stdout, once it has ended. */
  readonly printed: Promise<string>;
  readonly exited: Promise<number>;
  isRunning(): boolean;
  signal(signal: NodeJS.Signals): void;
}

export type AnswerFixture = ReturnType<typeof createAnswerFixture>;

export function createAnswerFixture() {
  const app = createAppFixture();
  const hooks: Hook[] = [];

  function startHook(payload: object, env: Record<string, string> = {}): Hook {
    const child = Bun.spawn([process.execPath, hookEntry, "claude"], {
      env: {
        ...app.env,
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

  const fetchDetails = async (id: string): Promise<SessionView> =>
    (await (await app.request(`/api/sessions/${id}`)).json()) as SessionView;

  return {
    ...app,
    /** Runs `beckon` from source. */
    command: [process.execPath, mainSource],
    startHook,
    fetchDetails,
    /** Waits until that many asks can be answered, and returns the last one. */
    async waitForAsk(id: string, count = 1): Promise<Required<AskView>> {
      let asks: AskView[] = [];
      await waitUntil(async () => {
        asks = ((await fetchDetails(id)).asks ?? []).filter(({ answerable }) => answerable);
        return asks.length === count;
      }, 5_000);
      return asks.at(-1) as Required<AskView>;
    },
    answer: async (id: string, answer: object) => {
      const response = await app.post(answer, `/api/sessions/${id}/answer`);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    async destroy() {
      for (const hook of hooks) if (hook.isRunning()) hook.signal("SIGKILL");
      await Promise.all(hooks.map(({ exited }) => exited));
      await app.destroy();
    },
  };
}

export const parseDecision = (printed: string) => JSON.parse(printed).hookSpecificOutput.decision;
