/**
 * Answers in place of the model. The last line of the last prompt that starts with one of these decides:
 *
 *   SAY TEXT               that text
 *   DO bash COMMAND        a Bash call                     DO background COMMAND   one that runs in the background
 *   DO ask [two | several] an AskUserQuestion with one question, with two, or with several answers to one
 *   DO plan                a plan, written to its file and presented
 *   DO agent PROMPT        a subagent                      DO agents A ;; B        two at once
 *   DO slow SECONDS        a text that takes that long     DO error STATUS         an API error
 *   DO form                a call of the MCP tool that asks for input
 *   DO write FILE          a Write call                    DO skill NAME ARGS      a Skill call
 *   DO times N COMMAND     N Bash calls, one after the other
 *   DO writes N FILE       N Write calls, to FILE-1, FILE-2, …
 *   DO after FILE WHAT     DO WHAT, once that file is in the home. FILE.awaited appears when it starts to wait
 *
 * After the tool's result it answers with one sentence, which ends the turn.
 */
import { colourQuestion } from "../colour-question.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  /** A tool's result. */
  readonly content?: string | readonly Block[];
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}

/** The fields of a request to the Messages API that this script reads. */
export interface Request {
  readonly model: string;
  readonly stream?: boolean;
  readonly system?: unknown;
  readonly messages: readonly Message[];
  readonly tools?: readonly unknown[];
  readonly output_config?: { readonly format?: unknown };
}

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export type ModelAnswer =
  | { readonly error: number }
  | {
      readonly text: string;
      readonly calls: readonly Call[];
      readonly chunkMs: number;
      /** Delay before the answer starts. */
      readonly thinkMs?: number;
      /** The file to wait for. */
      readonly after?: string;
    };

const chunkMs = 200;
/** Faster than any model, but slow enough for async hooks to run in the meantime. */
const thinkMs = 100;
const planText = "# A plan\n\n1. Do this\n2. Do that\n";

const createText = (text: string): ModelAnswer => ({ text, calls: [], chunkMs: 0 });
const createToolUse = (...calls: Call[]): ModelAnswer => ({ text: "Let me check.", calls, chunkMs: 0 });
const createBashCall = (command: string, more = {}): Call => ({
  name: "Bash",
  input: { command, description: "Run a command", ...more },
});
const createAgentCall = (prompt: string): Call => ({
  name: "Agent",
  input: { description: "Help with it", prompt, subagent_type: "general-purpose" },
});

const sizes = [
  { label: "Small", description: "the small one" },
  { label: "Large", description: "the large one" },
];

const questions: Readonly<Record<string, readonly object[]>> = {
  "": [colourQuestion],
  two: [colourQuestion, { ...colourQuestion, question: "Which size?", header: "Size", options: sizes }],
  several: [{ ...colourQuestion, question: "Which colours?", multiSelect: true }],
};

/** `step` is the number of answers to this prompt so far. */
type Command = (rest: string, step: number, request: Request) => ModelAnswer;

const answerOnce =
  (answer: (rest: string) => ModelAnswer): Command =>
  (rest, step) =>
    step === 0 ? answer(rest) : createText("Done, without errors.");

const commands: Readonly<Record<string, Command>> = {
  bash: answerOnce((command) => createToolUse(createBashCall(command))),
  background: answerOnce((command) => createToolUse(createBashCall(command, { run_in_background: true }))),
  ask: answerOnce((which) =>
    createToolUse({ name: "AskUserQuestion", input: { questions: questions[which] } }),
  ),
  agent: answerOnce((prompt) => createToolUse(createAgentCall(prompt))),
  agents: answerOnce((prompts) => createToolUse(...prompts.split(" ;; ").map(createAgentCall))),
  write: answerOnce((file) =>
    createToolUse({ name: "Write", input: { file_path: file, content: "written by the model\n" } }),
  ),
  skill: answerOnce((line) => {
    const [skill, ...args] = line.split(" ");
    return createToolUse({ name: "Skill", input: { skill, args: args.join(" ") } });
  }),
  form: answerOnce(() => createToolUse({ name: "mcp__form__ask", input: {} })),
  error: (status) => ({ error: Number(status) }),
  slow: (seconds) => ({
    text: "word ".repeat((Number(seconds) * 1_000) / chunkMs),
    calls: [],
    chunkMs,
  }),
  times(rest, step) {
    const [times, ...command] = rest.split(" ");
    const answer =
      step < Number(times)
        ? createToolUse(createBashCall(command.join(" ")))
        : createText("All tools have run.");
    return { ...answer, thinkMs };
  },
  writes(rest, step) {
    const [times, file = ""] = rest.split(" ");
    const input = { file_path: `${file}-${step + 1}`, content: "written by the model\n" };
    const answer =
      step < Number(times) ? createToolUse({ name: "Write", input }) : createText("All files are written.");
    return { ...answer, thinkMs };
  },
  after(rest, step, request) {
    const [after = "", name = "", ...more] = rest.split(" ");
    const answer =
      commands[name]?.(more.join(" "), step, request) ?? createText(`There is no command ${name}.`);
    return "error" in answer ? answer : { ...answer, after };
  },
  plan(_, step, request) {
    if (step === 0)
      return createToolUse({ name: "Write", input: { file_path: findPlanFile(request), content: planText } });
    return step === 1
      ? createToolUse({ name: "ExitPlanMode", input: {} })
      : createText("The plan was approved.");
  },
};

/** In plan mode, the request names the file to write. */
function findPlanFile(request: Request): string {
  return JSON.stringify(request).match(/\/[\w./-]+\/plans\/[\w-]+\.md/)?.[0] ?? "/no/plan/file";
}

export function answerRequest(request: Request): ModelAnswer {
  const last = readText(request.messages.at(-1));
  if (/create a detailed summary of/i.test(last)) return createText("<summary>We talked.</summary>");
  // Side requests, such as for a title, have no tools or ask for an output format.
  if (!request.tools?.length || request.output_config?.format) return createText('{"title":"A title"}');
  if (last.includes("<task-notification>")) return createText("Noted.");

  const at = request.messages.findLastIndex(
    (message) => message.role === "user" && findInstruction(message) !== null,
  );
  const instruction = at < 0 ? null : findInstruction(request.messages[at]);
  if (!instruction) return createText("Hello.");
  const step = request.messages.slice(at + 1).filter((message) => message.role === "assistant").length;
  if (instruction.verb === "SAY") return createText(instruction.text);
  const [name = "", ...rest] = instruction.text.split(" ");
  return commands[name]?.(rest.join(" "), step, request) ?? createText(`There is no command ${name}.`);
}

function readText(message: Message | undefined): string {
  if (!message) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("\n");
}

/** The tool results since the previous request. */
export function collectToolResults({ messages }: Request): string {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const blocks = since.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const results = blocks.filter(({ type }) => type === "tool_result");
  return results.map(({ content = "" }) => readText({ role: "user", content })).join("\n");
}

/** What hooks add to the model's context. */
export function collectHookContext({ messages }: Request): string {
  const texts = messages.map(readText).join("\n");
  return [...texts.matchAll(/^\w+ hook additional context: (.*)$/gm)].map(([, text]) => text).join("\n");
}

function findInstruction(message: Message | undefined): { verb: string; text: string } | null {
  const typed = readText(message).replace(/<system-reminder>.*?<\/system-reminder>/gs, "");
  const [, verb, text] = [...typed.matchAll(/^\s*(SAY|DO) (.*)$/gm)].at(-1) ?? [];
  return verb === undefined || text === undefined ? null : { verb, text: text.trim() };
}
