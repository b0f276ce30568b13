/**
 * The response that a permission hook keeps open while its dialog is on the screen: an empty line now and then as a sign of
 * life, and at the end one line of JSON, which is the decision or `{}`.
 */
import type { HookConnection, PendingHooks } from "../core/interfaces/index.ts";

const headers = new Headers({ "content-type": "application/x-ndjson", "cache-control": "no-store" });

/** The response to a permission hook whose event is journalled: open until the user decides. */
export function respondWhenAnswered(envelope: string, signal: AbortSignal, pending: PendingHooks): Response {
  const { connection, stream } = createConnection(signal);
  pending.add(envelope, connection);
  return new Response(stream, { headers });
}

const encoder = new TextEncoder();

function createConnection(signal: AbortSignal): {
  connection: HookConnection;
  stream: ReadableStream<Uint8Array>;
} {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let listener: (() => void) | null = null;
  let isClosed = false;
  const onClosed = () => {
    if (isClosed) return;
    isClosed = true;
    listener?.();
  };
  const stream = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
    },
    cancel: onClosed,
  });
  signal.addEventListener("abort", onClosed);
  if (signal.aborted) onClosed();
  return {
    stream,
    connection: {
      send(text) {
        if (isClosed) return false;
        try {
          controller?.enqueue(encoder.encode(text));
          return true;
        } catch {
          onClosed();
          return false;
        }
      },
      close() {
        if (isClosed) return;
        try {
          controller?.close();
        } catch {}
        onClosed();
      },
      onClosed(listen) {
        listener = listen;
        if (isClosed) listen();
      },
    },
  };
}
