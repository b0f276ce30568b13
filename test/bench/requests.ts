/** What benches ask of a running app. */
import { readLines } from "../../src/system/lines.ts";
import type { Receiver } from "./processes.ts";

export function request(app: Receiver, path: string, init: RequestInit = {}): Promise<Response> {
  const authorization = app.authorization.replace(/^Authorization: /, "");
  return fetch(`http://127.0.0.1:${app.port}${path}`, {
    ...init,
    headers: { authorization, "content-type": "application/json" },
  });
}

/** When each marker is seen in the app's event stream, by the marker. */
export async function followEvents(app: Receiver): Promise<(marker: string) => Promise<number>> {
  const waiting = new Map<string, (at: number) => void>();
  const response = await request(app, "/api/events");
  void readLines(response.body as ReadableStream<Uint8Array>, 1e7, (line) => {
    for (const [marker, resolve] of waiting) if (line.includes(marker)) resolve(performance.now());
  });
  return (marker) =>
    new Promise((resolve) => {
      waiting.set(marker, (at) => {
        waiting.delete(marker);
        resolve(at);
      });
    });
}
