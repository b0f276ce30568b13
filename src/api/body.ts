/** A request's body, read within its limit, and the answer to it. */
import { limits } from "../core/limits.ts";

export const json = new Headers({ "content-type": "application/json", "cache-control": "no-store" });

export function answer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: json });
}

export const tooLarge = () => answer(413, { error: `body is larger than ${limits.maxBodyBytes} bytes` });

/** A body that names its length was measured by the guard. null: it is too large. */
export function readBody(request: Request): Promise<string | null> {
  return request.headers.has("content-length") ? request.text() : readCounted(request);
}

/** What a deed was given, or what is wrong with it. Nothing at all is fine. */
export function readGiven(body: string | null): Readonly<Record<string, unknown>> | string {
  if (body === null || body.trim() === "") return {};
  try {
    const given: unknown = JSON.parse(body);
    if (typeof given === "object" && given !== null && !Array.isArray(given)) return { ...given };
  } catch {}
  return "invalid JSON";
}

/** Counted as it comes, and never all of it held. null: it is too large. */
async function readCounted(request: Request): Promise<string | null> {
  if (!request.body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > limits.maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
