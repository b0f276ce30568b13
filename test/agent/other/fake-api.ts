/**
 * bun fake-api.ts PORT LOG   a fake model on loopback for the other agents: OpenAI's chat completions and responses, and Gemini's
 *                            generateContent. LOG gets one line for each request of a turn: [when it arrived, in ms,
 *                            and the last text in it, such as a tool's result]
 *
 * The last line that the user typed and that starts with one of these decides:
 *
 *   SAY TEXT                that text
 *   DO tool NAME JSON       a call of that tool; ` >> tool NAME JSON` adds one after it. With a JSON string, a tool that takes text
 *   DO slow SECONDS         a text that takes that long
 *   DO error STATUS         an API error
 *
 * After the last tool's result it answers with one sentence, which ends the turn.
 */

import { appendFileSync } from "node:fs";
import { letTimePass } from "../../wait-until.ts";

export const otherApiReady = "the fake API is listening";

interface Turn {
  readonly role: "user" | "assistant" | "tool" | "other";
  readonly text: string;
}

interface Call {
  readonly name: string;
  readonly input: unknown;
}

interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
  /** Between the words of the text. */
  readonly wordMs: number;
}

type Answer = Reply | { readonly error: number };
type Fields = Readonly<Record<string, unknown>>;

const wordMs = 200;
const maxLoggedLength = 1_000;
const createText = (text: string): Reply => ({ text, calls: [], wordMs: 0 });

function answer(turns: readonly Turn[]): Answer {
  const isInstruction = ({ role, text }: Turn) => role === "user" && findInstruction(text) !== null;
  const at = turns.findLastIndex(isInstruction);
  const instruction = findInstruction(turns[at]?.text ?? "");
  if (!instruction) return createText("Hello.");
  if (instruction.verb === "SAY") return createText(instruction.text);
  const since = turns.slice(at + 1);
  const steps = instruction.text.split(" >> ");
  const done = since.filter(({ role }) => role === "tool").length;
  const step = steps[done];
  if (step === undefined || (done === 0 && since.some(({ role }) => role === "assistant")))
    return createText("Done, without errors.");
  const [, command = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(step) ?? [];
  switch (command) {
    case "tool": {
      const [, name = "", json = "{}"] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
      return { text: "Let me check.", calls: [{ name, input: JSON.parse(json) }], wordMs: 0 };
    }
    case "slow":
      return { text: "word ".repeat((Number(rest) * 1_000) / wordMs), calls: [], wordMs };
    case "error":
      return { error: Number(rest) };
    default:
      return createText(`There is no command ${command}.`);
  }
}

function findInstruction(text: string): { readonly verb: string; readonly text: string } | null {
  const typed = text.replace(/<system-reminder>.*?<\/system-reminder>/gs, "");
  const [, verb, rest] = [...typed.matchAll(/^\s*(SAY|DO) (.*)$/gm)].at(-1) ?? [];
  return verb === undefined || rest === undefined ? null : { verb, text: rest.trim() };
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

function flatten(content: unknown): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => (typeof part === "string" ? part : String(part.text ?? part.content ?? "")))
    .join("\n");
}

const chatRoles = { user: "user", assistant: "assistant", tool: "tool" } as const;
const readChat = ({ messages }: Fields): Turn[] =>
  listOf(messages).map(({ role, content }) => ({
    role: chatRoles[role as keyof typeof chatRoles] ?? "other",
    text: flatten(content),
  }));

function readResponses({ input }: Fields): Turn[] {
  if (typeof input === "string") return [{ role: "user", text: input }];
  return listOf(input).map(({ type, role, content, output }) => {
    if (String(type).endsWith("call_output")) return { role: "tool", text: flatten(output) };
    if (role === "user") return { role: "user", text: flatten(content) };
    const isOwn = role === "assistant" || String(type).endsWith("call");
    return { role: isOwn ? "assistant" : "other", text: flatten(content) };
  });
}

const readGemini = ({ contents }: Fields): Turn[] =>
  listOf(contents).flatMap(({ role, parts }) =>
    listOf(parts).map(({ functionResponse, text }): Turn => {
      if (functionResponse) return { role: "tool", text: JSON.stringify(functionResponse) };
      return { role: role === "model" ? "assistant" : "user", text: String(text ?? "") };
    }),
  );

let count = 0;
const createId = (kind: string): string => `${kind}_${String(++count).padStart(8, "0")}`;
const encode = (event: string | null, data: unknown): string =>
  `${event === null ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

async function* splitText({ text, wordMs: pauseMs }: Reply): AsyncGenerator<string> {
  if (pauseMs === 0) return yield text;
  for (const word of text.match(/\S+\s*/g) ?? []) {
    yield word;
    await letTimePass(pauseMs, "the prompt says how slowly the model writes");
  }
}

const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

async function* streamChat(model: unknown, reply: Reply): AsyncGenerator<string> {
  const base = { id: createId("chatcmpl"), object: "chat.completion.chunk", created: 1, model };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    encode(null, { ...base, choices: [{ index: 0, delta, finish_reason }] });
  yield chunk({ role: "assistant", content: "" });
  for await (const content of splitText(reply)) yield chunk({ content });
  const tool_calls = createChatCalls(reply);
  if (tool_calls.length > 0) yield chunk({ tool_calls });
  yield chunk({}, tool_calls.length > 0 ? "tool_calls" : "stop");
  yield encode(null, { ...base, choices: [], usage: chatUsage });
  yield "data: [DONE]\n\n";
}

const createChatCalls = ({ calls }: Reply) =>
  calls.map(({ name, input }, index) => ({
    index,
    id: createId("call"),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));

function createChat(model: unknown, reply: Reply): object {
  const tool_calls = createChatCalls(reply);
  const message = {
    role: "assistant",
    content: reply.text,
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  };
  const finish_reason = tool_calls.length > 0 ? "tool_calls" : "stop";
  return {
    id: createId("chatcmpl"),
    object: "chat.completion",
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason }],
    usage: chatUsage,
  };
}

async function* streamResponses(reply: Reply): AsyncGenerator<string> {
  const id = createId("resp");
  const event = (type: string, more: object) => encode(type, { type, ...more });
  const message = { type: "message", id: createId("msg"), role: "assistant" };
  yield event("response.created", { response: { id, status: "in_progress", output: [] } });
  yield event("response.output_item.added", {
    output_index: 0,
    item: { ...message, status: "in_progress", content: [] },
  });
  for await (const delta of splitText(reply))
    yield event("response.output_text.delta", {
      item_id: message.id,
      output_index: 0,
      content_index: 0,
      delta,
    });
  const content = [{ type: "output_text", text: reply.text, annotations: [] }];
  yield event("response.output_item.done", {
    output_index: 0,
    item: { ...message, status: "completed", content },
  });
  for (const [index, { name, input }] of reply.calls.entries()) {
    const call = { id: createId("fc"), call_id: createId("call"), name, status: "completed" };
    // A tool that takes plain text instead of JSON, such as Codex's apply_patch, is called in another form.
    const item =
      typeof input === "string"
        ? { ...call, type: "custom_tool_call", input }
        : { ...call, type: "function_call", arguments: JSON.stringify(input) };
    yield event("response.output_item.done", { output_index: index + 1, item });
  }
  const usage = {
    ...{ input_tokens: 100, output_tokens: 20, total_tokens: 120 },
    ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
  };
  yield event("response.completed", { response: { id, status: "completed", output: [], usage } });
}

const geminiUsage = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
const createGemini = (parts: readonly object[], isLast: boolean) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...(isLast ? { finishReason: "STOP" } : {}) }],
  usageMetadata: geminiUsage,
  modelVersion: "fake",
});
const createGeminiCalls = ({ calls }: Reply) =>
  calls.map(({ name, input }) => ({ functionCall: { name, args: input, id: createId("call") } }));

async function* streamGemini(reply: Reply): AsyncGenerator<string> {
  for await (const text of splitText(reply)) yield encode(null, createGemini([{ text }], false));
  const calls = createGeminiCalls(reply);
  // A last part that is empty counts as a broken stream.
  yield encode(null, createGemini(calls.length > 0 ? calls : [{ text: " " }], true));
}

function respond(path: string, body: Fields, log: string): Response {
  const stream = (events: AsyncGenerator<string>) =>
    new Response(events, { headers: { "content-type": "text/event-stream" } });
  // Side requests, such as for a title, ask for an output format.
  const isSide =
    body.response_format !== undefined ||
    /"(?:response(?:Json)?Schema|json_schema)"/.test(JSON.stringify(body));
  const read = path.endsWith("/responses") ? readResponses : path.includes(":") ? readGemini : readChat;
  const turns = isSide ? [] : read(body);
  const hasTools =
    listOf(body.tools).length > 0 || listOf(body.input).some(({ type }) => type === "additional_tools");
  if (!isSide && hasTools) {
    const last = turns.at(-1)?.text.slice(0, maxLoggedLength) ?? "";
    appendFileSync(log, `${JSON.stringify([performance.timeOrigin + performance.now(), last])}\n`);
  }
  const reply = isSide ? createText('{"title":"A title"}') : answer(turns);
  if ("error" in reply) {
    const error = { message: `error ${reply.error}, as scripted`, type: "fake", code: reply.error };
    return Response.json({ error }, { status: reply.error });
  }
  if (path.endsWith("/responses")) return stream(streamResponses(reply));
  if (path.endsWith(":streamGenerateContent")) return stream(streamGemini(reply));
  if (path.endsWith(":generateContent"))
    return Response.json(createGemini([{ text: reply.text }, ...createGeminiCalls(reply)], true));
  return body.stream === true
    ? stream(streamChat(body.model, reply))
    : Response.json(createChat(body.model, reply));
}

const paths = /\/(?:responses|chat\/completions)$|:(?:streamG|g)enerateContent$/;

if (import.meta.main) {
  const [port, log = "/dev/null"] = process.argv.slice(2);
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(port),
    idleTimeout: 0,
    maxRequestBodySize: 64 * 1024 * 1024,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.method === "POST" && paths.test(pathname))
        return respond(pathname, (await request.json()) as Fields, log);
      if (pathname.endsWith(":countTokens")) return Response.json({ totalTokens: 100 });
      if (pathname.endsWith("/models"))
        return Response.json({ object: "list", data: [{ id: "fake-model", object: "model" }], models: [] });
      return Response.json({ error: { message: "not found" } }, { status: 404 });
    },
  });
  console.log(otherApiReady);
}
