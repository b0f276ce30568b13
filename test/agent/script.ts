/**
 * What the stand-in for the model answers. The last line of the last prompt that begins with one of these decides:
 *
 *   SAY TEXT               that text
 *   DO bash COMMAND        a Bash call                     DO background COMMAND   one that runs in the background
 *   DO ask [two | several] an AskUserQuestion with one question, with two, or with several answers to one
 *   DO plan                a plan, written and put forward
 *   DO agent PROMPT        a subagent                      DO agents A ;; B        two at once
 *   DO slow SECONDS        a text that takes that long     DO error STATUS         an error of the API
 *   DO form                a call of the MCP server's tool that asks for input
 *   DO times N COMMAND     N Bash calls, one after the other
 *   DO after FILE WHAT     the same as DO WHAT, once that file is in the home; FILE.awaited is there when it begins to wait
 *
 * After the tool's result comes one sentence, and the turn is over.
 */

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

/** Of a request to the Messages API, what is looked at. */
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

export type Answer =
  | { readonly error: number }
  | {
      readonly text: string;
      readonly calls: readonly Call[];
      readonly chunkMs: number;
      /** How long it thinks before it begins. */
      readonly thinkMs?: number;
      /** The file that it waits for. */
      readonly after?: string;
    };

const chunkMs = 200;
/** Less than any model takes, but time enough for what goes on beside the turn. */
const thinkMs = 100;
const planText = "# A plan\n\n1. Do this\n2. Do that\n";

const say = (text: string): Answer => ({ text, calls: [], chunkMs: 0 });
const call = (...calls: Call[]): Answer => ({ text: "I will use a tool.", calls, chunkMs: 0 });
const bash = (command: string, more = {}): Call => ({
  name: "Bash",
  input: { command, description: "Run a command", ...more },
});
const agent = (prompt: string): Call => ({
  name: "Agent",
  input: { description: "Help with it", prompt, subagent_type: "general-purpose" },
});

const sizes = [
  { label: "Small", description: "the small one" },
  { label: "Large", description: "the large one" },
];
const question = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "Red", description: "the red one" },
    { label: "Blue", description: "the blue one" },
  ],
};

const questions: Readonly<Record<string, readonly object[]>> = {
  "": [question],
  two: [question, { ...question, question: "Which size?", header: "Size", options: sizes }],
  several: [{ ...question, question: "Which colours?", multiSelect: true }],
};

/** `step`: how many answers the line has had. */
type Word = (rest: string, step: number, request: Request) => Answer;

const once =
  (answer: (rest: string) => Answer): Word =>
  (rest, step) =>
    step === 0 ? answer(rest) : say("The tool has answered.");

const words: Readonly<Record<string, Word>> = {
  bash: once((command) => call(bash(command))),
  background: once((command) => call(bash(command, { run_in_background: true }))),
  ask: once((which) => call({ name: "AskUserQuestion", input: { questions: questions[which] } })),
  agent: once((prompt) => call(agent(prompt))),
  agents: once((prompts) => call(...prompts.split(" ;; ").map(agent))),
  form: once(() => call({ name: "mcp__form__ask", input: {} })),
  error: (status) => ({ error: Number(status) }),
  slow: (seconds) => ({
    text: "word ".repeat((Number(seconds) * 1_000) / chunkMs),
    calls: [],
    chunkMs,
  }),
  times(rest, step) {
    const [times, ...command] = rest.split(" ");
    const answer = step < Number(times) ? call(bash(command.join(" "))) : say("All have answered.");
    return { ...answer, thinkMs };
  },
  after(rest, step, request) {
    const [after = "", name = "", ...more] = rest.split(" ");
    const answer = words[name]?.(more.join(" "), step, request) ?? say(`There is no word ${name}.`);
    return "error" in answer ? answer : { ...answer, after };
  },
  plan(_, step, request) {
    if (step === 0)
      return call({ name: "Write", input: { file_path: planFile(request), content: planText } });
    return step === 1 ? call({ name: "ExitPlanMode", input: {} }) : say("The plan was approved.");
  },
};

/** In plan mode the CLI tells the model which file to write. */
function planFile(request: Request): string {
  return JSON.stringify(request).match(/\/[\w./-]+\/plans\/[\w-]+\.md/)?.[0] ?? "/no/plan/file";
}

export function answerTo(request: Request): Answer {
  const last = textOf(request.messages.at(-1));
  if (/create a detailed summary of/i.test(last)) return say("<summary>We talked.</summary>");
  // Requests on the side, as for a title, bring no tools or want a form of answer.
  if (!request.tools?.length || request.output_config?.format) return say('{"title":"A title"}');
  if (last.includes("<task-notification>")) return say("Noted.");

  const at = request.messages.findLastIndex((message) => message.role === "user" && lineOf(message) !== null);
  const line = at < 0 ? null : lineOf(request.messages[at]);
  if (!line) return say("Hello.");
  const step = request.messages.slice(at + 1).filter((message) => message.role === "assistant").length;
  if (line.verb === "SAY") return say(line.text);
  const [name = "", ...rest] = line.text.split(" ");
  return words[name]?.(rest.join(" "), step, request) ?? say(`There is no word ${name}.`);
}

function textOf(message: Message | undefined): string {
  if (!message) return "";
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("\n");
}

/** What tools have said since the request before. */
export function resultsIn({ messages }: Request): string {
  const since = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const blocks = since.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const results = blocks.filter(({ type }) => type === "tool_result");
  return results.map(({ content = "" }) => textOf({ role: "user", content })).join("\n");
}

function lineOf(message: Message | undefined): { verb: string; text: string } | null {
  const typed = textOf(message).replace(/<system-reminder>.*?<\/system-reminder>/gs, "");
  const [, verb, text] = [...typed.matchAll(/^\s*(SAY|DO) (.*)$/gm)].at(-1) ?? [];
  return verb === undefined || text === undefined ? null : { verb, text: text.trim() };
}
