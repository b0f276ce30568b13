/** An idle Claude Code's inbox, as far as beckon sees it: a status file that names a socket, which takes a line. */
import { createServer } from "node:net";
import { join } from "node:path";
import type { AppFixture } from "../app-fixture.ts";

interface Inbox {
  /** What was sent to it, as it came. */
  readonly taken: readonly string[];
  /** The status file as the CLI writes it. */
  write(fields?: Record<string, unknown>): void;
  close(): void;
}

/** The session runs in this process. */
export function openInbox(
  fixture: Pick<AppFixture, "home" | "writeStatus">,
  sessionId: string,
  fields: Record<string, unknown> = {},
): Inbox {
  const taken: string[] = [];
  const messagingSocketPath = join(fixture.home, "inbox.sock");
  const server = createServer((socket) => {
    socket.on("data", (chunk) => taken.push(String(chunk)));
  }).listen(messagingSocketPath);
  const status = { sessionId, status: "idle", entrypoint: "cli", messagingSocketPath, ...fields };
  const write = (more: Record<string, unknown> = {}) =>
    fixture.writeStatus(process.pid, { ...status, ...more });
  write();
  return { taken, write, close: () => server.close() };
}
