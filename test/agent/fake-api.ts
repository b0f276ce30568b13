/**
 * bun fake-api.ts LOG [PROMPTS]   a fake Messages API on loopback. LOG gets one line for each request of a turn:
 *                                 [when it arrived, when it was answered, the tool results in it, what hooks added].
 *                                 PROMPTS is JSON: prompts, and the line of the script that each stands for
 *
 * The CLI is real, the model is not: script.ts computes its answers.
 */
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { letTimePass, waitUntil } from "../wait-until.ts";
import {
  answerRequest,
  collectHookContext,
  collectToolResults,
  type ModelAnswer,
  type Request,
} from "./script.ts";

export const apiPort = 8787;
export const apiReady = "the fake API is listening";

const pollMs = 20;

const usage = {
  input_tokens: 100,
  output_tokens: 20,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const errors: Readonly<Record<number, string>> = { 401: "authentication_error", 429: "rate_limit_error" };

let count = 0;
const createId = (kind: string): string => `${kind}_${String(++count).padStart(20, "0")}`;

type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: object };

type Reply = Exclude<ModelAnswer, { error: number }>;

function createContent({ text, calls }: Reply): Content[] {
  return [
    { type: "text", text },
    ...calls.map((call) => ({ type: "tool_use" as const, id: createId("toolu"), ...call })),
  ];
}

function createMessage(model: string, content: readonly Content[], stopReason: string | null) {
  const head = { id: createId("msg"), type: "message", role: "assistant", model, content };
  return { ...head, stop_reason: stopReason, stop_sequence: null, usage };
}

async function* createEvents(model: string, given: Reply, stopReason: string) {
  const event = (type: string, more: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  yield event("message_start", { message: createMessage(model, [], null) });
  for (const [index, block] of createContent(given).entries()) {
    const isText = block.type === "text";
    yield event("content_block_start", {
      index,
      content_block: isText ? { ...block, text: "" } : { ...block, input: {} },
    });
    const parts = !isText ? [] : given.chunkMs > 0 ? (block.text.match(/\S+\s*/g) ?? []) : [block.text];
    for (const text of parts) {
      yield event("content_block_delta", { index, delta: { type: "text_delta", text } });
      if (given.chunkMs > 0) await letTimePass(given.chunkMs, "the script says how slowly the model writes");
    }
    const json = isText ? "" : JSON.stringify(block.input);
    if (json)
      yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: json } });
    yield event("content_block_stop", { index });
  }
  yield event("message_delta", { delta: { stop_reason: stopReason, stop_sequence: null }, usage });
  yield event("message_stop", {});
}

function createError(status: number): Response {
  const type = errors[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  const body = { type: "error", error: { type, message: `error ${status}, as scripted` } };
  return Response.json(body, { status, headers: { "x-should-retry": "false" } });
}

async function waitForFile(file: string): Promise<void> {
  writeFileSync(`${file}.awaited`, "");
  await waitUntil(() => existsSync(file), Number.POSITIVE_INFINITY, file, pollMs);
}

async function respond(request: Request, log: string): Promise<Response> {
  const now = () => performance.timeOrigin + performance.now();
  const receivedAt = now();
  const answer = answerRequest(request);
  if ("error" in answer) return createError(answer.error);
  if (answer.thinkMs) await letTimePass(answer.thinkMs, "the script says how long the model thinks");
  if (answer.after) await waitForFile(join(dirname(log), answer.after));
  if (request.tools?.length)
    appendFileSync(
      log,
      `${JSON.stringify([receivedAt, now(), collectToolResults(request), collectHookContext(request)])}\n`,
    );
  const stopReason = answer.calls.length > 0 ? "tool_use" : "end_turn";
  if (!request.stream) return Response.json(createMessage(request.model, createContent(answer), stopReason));
  const events = createEvents(request.model, answer, stopReason);
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
}

if (import.meta.main) {
  const [log = "/dev/null", promptsJson = "{}"] = process.argv.slice(2);
  const prompts = Object.entries(JSON.parse(promptsJson) as Record<string, string>);
  Bun.serve({
    hostname: "127.0.0.1",
    port: apiPort,
    idleTimeout: 0,
    maxRequestBodySize: 64 * 1024 * 1024,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/messages/count_tokens") return Response.json({ input_tokens: 100 });
      if (pathname === "/v1/messages" && request.method === "POST") {
        const body = prompts.reduce(
          (text, [prompt, line]) => text.replaceAll(JSON.stringify(prompt), JSON.stringify(line)),
          await request.text(),
        );
        return respond(JSON.parse(body) as Request, log);
      }
      return request.method === "HEAD" ? new Response() : createError(404);
    },
  });
  console.log(apiReady);
}
