/** Sends commands of kitty's remote control (https://sw.kovidgoyal.net/kitty/rc_protocol/). */
import { createConnection } from "node:net";
import { limits } from "../../core/limits.ts";

const commandStart = "\u001bP@kitty-cmd";
const commandEnd = "\u001b\\";

interface KittyAnswer {
  readonly ok?: boolean;
  readonly data?: unknown;
}

/**
 * Sends a command over kitty's socket: faster than its own program, which need not be in the PATH. null if kitty does not
 * answer in time, or refuses.
 */
export function sendKittyCommand(
  address: string,
  command: string,
  payload: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = createConnection(parseAddress(address));
  const finish = (answer: unknown) => {
    clearTimeout(timer);
    socket.destroy();
    resolve(answer);
  };
  const timer = setTimeout(() => finish(null), timeoutMs);
  let text = "";
  socket.on("error", () => finish(null));
  socket.on("close", () => finish(null));
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > limits.maxCommandOutputBytes) finish(null);
    else if (text.endsWith(commandEnd)) finish(parseAnswer(text));
  });
  // The oldest version that has these commands in this form: kitty refuses only versions newer than itself, as its page says.
  const request = { cmd: command, version: [0, 20, 0], no_response: false, payload };
  socket.write(`${commandStart}${JSON.stringify(request)}${commandEnd}`);
  return promise;
}

function parseAddress(address: string): { path: string } | { host: string; port: number } {
  const tcp = /^tcp:[^:]+:(\d+)$/.exec(address)?.[1];
  if (tcp !== undefined) return { host: "127.0.0.1", port: Number(tcp) };
  const path = address.replace(/^unix:/, "");
  return { path: path.startsWith("@") ? `\0${path.slice(1)}` : path };
}

function parseAnswer(text: string): unknown {
  try {
    const answer: KittyAnswer = JSON.parse(
      text.slice(text.indexOf(commandStart) + commandStart.length, -commandEnd.length),
    );
    if (answer.ok !== true) return null;
    return typeof answer.data === "string" ? JSON.parse(answer.data) : (answer.data ?? true);
  } catch {
    return null;
  }
}
