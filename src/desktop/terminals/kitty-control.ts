/** kitty's remote control, over its socket: quicker than its own program, which need not be in the PATH. */
import { createConnection } from "node:net";
import { limits } from "../../core/limits.ts";

const begin = "\u001bP@kitty-cmd";
const end = "\u001b\\";

interface Answer {
  readonly ok?: boolean;
  readonly data?: unknown;
}

/** null: nobody there, no answer in time, or refused. */
export function askKitty(
  address: string,
  command: string,
  payload: unknown,
  timeoutMs: number,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const socket = createConnection(endpoint(address));
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
    else if (text.endsWith(end)) finish(readAnswer(text));
  });
  // The oldest version whose form of these commands this is; kitty refuses only newer ones than itself.
  const request = { cmd: command, version: [0, 20, 0], no_response: false, payload };
  socket.write(`${begin}${JSON.stringify(request)}${end}`);
  return promise;
}

function endpoint(address: string): { path: string } | { host: string; port: number } {
  const tcp = /^tcp:[^:]+:(\d+)$/.exec(address)?.[1];
  if (tcp !== undefined) return { host: "127.0.0.1", port: Number(tcp) };
  const path = address.replace(/^unix:/, "");
  return { path: path.startsWith("@") ? `\0${path.slice(1)}` : path };
}

function readAnswer(text: string): unknown {
  try {
    const answer: Answer = JSON.parse(text.slice(text.indexOf(begin) + begin.length, -end.length));
    if (answer.ok !== true) return null;
    return typeof answer.data === "string" ? JSON.parse(answer.data) : (answer.data ?? true);
  } catch {
    return null;
  }
}
