/** Real processes that run the script in place of osascript, and a connection to the newest one to act as its user. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import type { Alert, TrayView } from "../../../src/core/view/view.ts";
import type { MacSettings } from "../../../src/desktop/macos/index.ts";
import type { FakeScreen, UserCommand } from "../../fixtures/mac-helper.ts";
import { waitForValue } from "../../wait-until.ts";

const program = join(import.meta.dir, "../../fixtures/mac-helper.ts");

export interface HelperHarness {
  readonly folder: string;
  readonly settings: MacSettings;
  /** How many helpers were started. */
  starts(): number;
  /** Whether a helper has exited by itself. */
  hasExited(): boolean;
  /** Performs a command in the newest helper and returns what is on its screen then. */
  perform(command: UserCommand): Promise<FakeScreen>;
  waitForScreen(isExpected: (screen: FakeScreen) => boolean, timeoutMs?: number): Promise<FakeScreen>;
  stop(): Promise<void>;
}

export async function startHarness(over: Partial<MacSettings> = {}): Promise<HelperHarness> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-mac-"));
  const path = join(folder, "user");
  let starts = 0;
  let newest: Bun.Socket | null = null;
  let waiting: ((screen: FakeScreen) => void) | null = null;
  let rest = "";
  const server = Bun.listen({
    unix: path,
    socket: {
      open(socket) {
        newest = socket;
        rest = "";
      },
      data(socket, bytes) {
        if (socket !== newest) return;
        const lines = (rest + bytes.toString()).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) waiting?.(JSON.parse(line));
      },
      close(socket) {
        if (socket === newest) newest = null;
      },
    },
  });

  async function perform(command: UserCommand): Promise<FakeScreen> {
    const helper = await waitForValue(
      () => newest,
      (socket) => socket !== null,
    );
    const { promise, resolve, reject } = Promise.withResolvers<FakeScreen>();
    waiting = resolve;
    const timer = setTimeout(() => reject(new Error("the helper does not answer")), 10_000);
    helper?.write(`${JSON.stringify(command)}\n`);
    return promise.finally(() => clearTimeout(timer));
  }

  return {
    folder,
    settings: {
      command: () => {
        starts += 1;
        return [process.execPath, program, path];
      },
      pingMs: 50,
      answerTimeoutMs: 5_000,
      firstRestartMs: 20,
      maxRestartMs: 100,
      healthyAfterMs: 60_000,
      maxFailures: 5,
      stopTimeoutMs: 20_000,
      ...over,
    },
    starts: () => starts,
    hasExited: () => existsSync(`${path}.exit`),
    perform,
    async waitForScreen(isExpected, timeoutMs = 20_000) {
      // A helper that ends meanwhile gives no answer.
      const look = () => perform({ do: "look" }).catch(() => null);
      const screen = await waitForValue(look, (shown) => shown !== null && isExpected(shown), timeoutMs);
      return screen as FakeScreen;
    },
    async stop() {
      server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const quit: UserAction = { do: "quit" };
export const focus: UserAction = { do: "focus", session: "claude:1" };

export function createView(tooltip: string, over: Partial<TrayView> = {}): TrayView {
  return {
    icon: { phase: "calm", count: 0 },
    title: "beckon: nothing needs you",
    tooltip,
    items: [{ kind: "entry", id: "quit", label: "Quit", action: quit }],
    leftClick: "menu",
    ...over,
  };
}

export function createAlert(key: string, over: Partial<Alert> = {}): Alert {
  return {
    key,
    session: "claude:1",
    kind: "blocked",
    urgency: "urgent",
    sound: false,
    title: `${key} needs you`,
    body: "Bash: npm test",
    since: 0,
    ...over,
  };
}
