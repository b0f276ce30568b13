/** Rows of a transcript, as the CLI writes them. */

let clock = Date.parse("2026-01-05T10:00:00.000Z");

function row(fields: object): string {
  clock += 1_000;
  const timestamp = new Date(clock).toISOString();
  return JSON.stringify({ isSidechain: false, timestamp, sessionId: "s1", gitBranch: "main", ...fields });
}

export function user(content: unknown, more: object = {}): string {
  return row({ type: "user", message: { role: "user", content }, ...more });
}

export function assistant(id: string, content: unknown, more: object = {}): string {
  const usage = {
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 1,
  };
  const message = { id, role: "assistant", model: "claude-opus-5-5", content, usage };
  return row({ type: "assistant", message, ...more });
}

export const text = (value: string) => [{ type: "text", text: value }];
export const thinking = (value: string) => [{ type: "thinking", thinking: value }];
const toolUse = (name: string) => [{ type: "tool_use", id: "toolu_1", name, input: {} }];
export const toolResult = (content: string) => [{ type: "tool_result", tool_use_id: "toolu_1", content }];

/** What an API error leaves. */
export function apiError(value: string): string {
  return row({
    type: "assistant",
    isApiErrorMessage: true,
    message: {
      id: "e1",
      model: "<synthetic>",
      content: text(value),
      usage: { input_tokens: 0, output_tokens: 0 },
    },
  });
}

/** What a resume after an interruption leaves. */
export function noResponse(): string {
  return row({
    type: "assistant",
    message: { id: "n1", model: "<synthetic>", content: text("No response requested.") },
  });
}

export function attachment(bytes: number): string {
  return row({ type: "attachment", attachment: { type: "prompt_snapshot", text: "x".repeat(bytes) } });
}

export function timeOf(line: string): number {
  return Date.parse(JSON.parse(line).timestamp);
}

/** The rows as they lie in a file. */
export function fileOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

export const say = (id: string, words: string) => assistant(id, text(words));
export const use = (id: string) => assistant(id, toolUse("Bash"));
export const result = () => user(toolResult("ok"));
