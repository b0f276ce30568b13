import { limits } from "../core/limits.ts";
import { listen, type Receiver, type ReceiverOptions } from "./server.ts";

/** On the port, or the next free one. */
export async function listenFrom(port: number, options: ReceiverOptions): Promise<Receiver> {
  const last = Math.min(port + limits.portsTried, 65_535);
  for (let next = port; next <= last; next++) {
    try {
      return listen(next, options);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE") continue;
      throw new Error(
        `beckon cannot listen on port ${next} (${code ?? message}). Set BECKON_PORT to another.`,
      );
    }
  }
  throw new Error(`no free port from ${port} to ${last}. Set BECKON_PORT to a free one.`);
}
