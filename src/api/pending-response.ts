/**
 * The response that a permission hook keeps open while its dialog is on the screen: an empty line now and then as a sign of
 * life, and at the end one line of JSON, which is the decision or `{}`.
 */
import type { PendingHooks } from "../core/interfaces/index.ts";
import { openResponseStream } from "../system/response-stream.ts";

const headers = new Headers({ "content-type": "application/x-ndjson", "cache-control": "no-store" });
const encoder = new TextEncoder();

/** The response to a permission hook whose event is journalled: open until the user decides. */
export function respondWhenAnswered(envelope: string, signal: AbortSignal, pending: PendingHooks): Response {
  let isClosed = false;
  let listener: (() => void) | null = null;
  const stream = openResponseStream(signal, () => {
    isClosed = true;
    listener?.();
  });
  pending.add(envelope, {
    send: (text) => stream.send(encoder.encode(text)),
    close: stream.close,
    onClosed(listen) {
      listener = listen;
      if (isClosed) listen();
    },
  });
  return new Response(stream.body, { headers });
}
