/** A folder, children that run the real script in place of osascript, and a hand on each of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserAction } from "../../../src/core/config/user-action.ts";
import type { Alert, TrayView } from "../../../src/core/view/view.ts";
import type { MacSettings } from "../../../src/desktop/macos/shared.ts";
import type { Command, Seen } from "../../fixtures/mac-child.ts";

const program = join(import.meta.dir, "../../fixtures/mac-child.ts");

export interface Desk {
  readonly folder: string;
  readonly settings: MacSettings;
  /** How many children were started. */
  starts(): number;
  /** Does something in the newest child and returns what is to be seen then. */
  do(command: Command): Promise<Seen>;
  look(): Promise<Seen>;
  until(isSo: (seen: Seen) => boolean, timeoutMs?: number): Promise<Seen>;
  stop(): Promise<void>;
}

export async function openDesk(over: Partial<MacSettings> = {}): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-mac-"));
  const path = join(folder, "user");
  let starts = 0;
  let newest: Bun.Socket | null = null;
  let waiting: ((seen: Seen) => void) | null = null;
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

  async function ask(command: Command): Promise<Seen> {
    const deadline = Date.now() + 5_000;
    while (newest === null) {
      if (Date.now() > deadline) throw new Error("no child has come up");
      await Bun.sleep(5);
    }
    const { promise, resolve, reject } = Promise.withResolvers<Seen>();
    waiting = resolve;
    const timer = setTimeout(() => reject(new Error("the child says nothing of itself")), 5_000);
    newest.write(`${JSON.stringify(command)}\n`);
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
      silentMs: 2_000,
      firstRestartMs: 20,
      maxRestartMs: 100,
      wellAfterMs: 60_000,
      maxFailures: 5,
      ...over,
    },
    starts: () => starts,
    do: ask,
    look: () => ask({ do: "look" }),
    async until(isSo, timeoutMs = 8_000) {
      const deadline = Date.now() + timeoutMs;
      let seen: Seen | null = null;
      while (Date.now() < deadline) {
        // A child that ends while it is asked is no answer.
        seen = await ask({ do: "look" }).catch(() => null);
        if (seen !== null && isSo(seen)) return seen;
        await Bun.sleep(5);
      }
      throw new Error(`it did not come to that: ${JSON.stringify(seen)}`);
    },
    async stop() {
      server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const quit: UserAction = { do: "quit" };
export const focus: UserAction = { do: "focus", session: "claude:1" };

export function viewOf(tooltip: string, over: Partial<TrayView> = {}): TrayView {
  return {
    icon: { phase: "calm", count: 0 },
    title: "beckon: nothing needs you",
    tooltip,
    items: [{ kind: "entry", id: "quit", label: "Quit", action: quit }],
    ...over,
  };
}

export function alertOf(key: string, over: Partial<Alert> = {}): Alert {
  return {
    key,
    session: "claude:1",
    kind: "blocked",
    urgency: "critical",
    sound: false,
    title: `${key} needs you`,
    body: "Bash: npm test",
    since: 0,
    ...over,
  };
}
