/** The body of a response that is written piece by piece, until either side closes it. */
import { limits } from "../core/limits.ts";

export interface ResponseStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Returns false if the client is gone, or reads more slowly than is written. */
  send(bytes: Uint8Array): boolean;
  /** How much the client has not read yet. */
  backlogBytes(): number;
  close(): void;
}

/** `signal` is that of the request. `onClosed` is called once, when either side closes it. */
export function openResponseStream(signal: AbortSignal, onClosed: () => void): ResponseStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    signal.removeEventListener("abort", close);
    try {
      controller?.close();
    } catch {}
    onClosed();
  };
  const strategy = new ByteLengthQueuingStrategy({ highWaterMark: limits.maxStreamBacklogBytes });
  const body = new ReadableStream<Uint8Array>(
    {
      start(opened) {
        controller = opened;
      },
      cancel: close,
    },
    strategy,
  );
  signal.addEventListener("abort", close);
  if (signal.aborted) close();
  return {
    body,
    send(bytes) {
      if (isClosed || controller === null) return false;
      try {
        controller.enqueue(bytes);
        return (controller.desiredSize ?? 0) > 0;
      } catch {
        close();
        return false;
      }
    },
    backlogBytes: () => limits.maxStreamBacklogBytes - (controller?.desiredSize ?? 0),
    close,
  };
}
