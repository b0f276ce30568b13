/**
 * Claude Code's inbox: a socket on which a session takes messages, as text, while its terminal stays as it is. It answers nothing; the
 * hook UserPromptSubmit is the receipt. The model is told that the message comes from another session on the user's behalf.
 */
import { createConnection } from "node:net";
import type { PromptSupport } from "../../agent.ts";
import { frameMessage } from "../own-message.ts";

const connectMs = 3_000;

/** `findInbox` returns the socket of a session; null if it has none. */
export function createInboxSupport(findInbox: (sessionId: string) => string | null): PromptSupport {
  return {
    way: "Arrives as a message from @beckon",
    findObstacle({ sessionId, permissionMode }) {
      // It asks the user in the terminal whether the message may be read (measured).
      if (permissionMode === "bypassPermissions")
        return "it skips all permissions, so Claude Code holds messages back until you allow them in its terminal";
      return findInbox(sessionId) === null
        ? "this session takes no messages: Claude Code does from version 2.1.224 on"
        : null;
    },
    async send({ sessionId }, text) {
      const inbox = findInbox(sessionId);
      if (inbox === null) throw new Error("the session has no inbox any more");
      const { findOwnSocket } = await import("../../watch/own-socket.ts");
      await deliver(findOwnSocket(inbox), {
        type: "user",
        message: { role: "user", content: frameMessage(text) },
      });
    },
  };
}

function deliver(path: string, message: object): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = createConnection({ path });
  socket.setTimeout(connectMs, () => socket.destroy(new Error("its inbox does not answer")));
  socket.once("error", reject);
  socket.once("close", () => resolve());
  socket.once("connect", () => socket.end(`${JSON.stringify(message)}\n`));
  socket.resume();
  return promise;
}
