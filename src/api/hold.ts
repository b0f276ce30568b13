/**
 * The line that a permission hook holds open while a dialog is on the screen: a blank line now and then, and at its end
 * one line of JSON: the decision, or `{}` where there is none.
 */
import { Elysia } from "elysia";
import type { HoldHandler, HookConnection } from "../core/ports.ts";
import { answer, readBody, readGiven, tooLarge } from "./body.ts";

export function createHoldRoute(door: HoldHandler) {
  return new Elysia({ systemRouter: false })
    .post(
      "/api/hold",
      async ({ request }) => {
        const body = await readBody(request);
        return body === null ? tooLarge() : holdOpen(body, request.signal, door);
      },
      { parse: "none" },
    )
    .post(
      "/api/hold/end",
      async ({ request }) => {
        const given = readGiven(await readBody(request));
        if (typeof given === "string") return answer(400, { error: given });
        const { id, how } = given;
        if (typeof id !== "string") return answer(400, { error: "id must be the event's" });
        if (how !== "printed" && how !== "stopped")
          return answer(400, { error: 'how must be "printed" or "stopped"' });
        door.end(id, how);
        return answer(200, { ok: true });
      },
      { parse: "none" },
    );
}

const headers = new Headers({ "content-type": "application/x-ndjson", "cache-control": "no-store" });

/** The response to a permission hook whose event is journalled: open until the user decides. */
export function holdOpen(envelope: string, signal: AbortSignal, handler: HoldHandler): Response {
  const { line, stream } = createLine(signal);
  handler.hold(envelope, line);
  return new Response(stream, { headers });
}

const encoder = new TextEncoder();

function createLine(signal: AbortSignal): { line: HookConnection; stream: ReadableStream<Uint8Array> } {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let listener: (() => void) | null = null;
  let isClosed = false;
  const closed = () => {
    if (isClosed) return;
    isClosed = true;
    listener?.();
  };
  const stream = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
    },
    cancel: closed,
  });
  signal.addEventListener("abort", closed);
  if (signal.aborted) closed();
  return {
    stream,
    line: {
      send(text) {
        if (isClosed) return false;
        try {
          controller?.enqueue(encoder.encode(text));
          return true;
        } catch {
          closed();
          return false;
        }
      },
      close() {
        if (isClosed) return;
        try {
          controller?.close();
        } catch {}
        closed();
      },
      onClosed(tell) {
        listener = tell;
        if (isClosed) tell();
      },
    },
  };
}
