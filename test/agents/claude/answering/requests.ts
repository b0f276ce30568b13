/** Permission requests, as Claude Code sends them. */
import { recordedPayloads } from "../recorded-payloads.ts";

export const cwd = "/home/dev/proj";

export function request(tool: unknown, input: unknown, more: object = {}): Record<string, unknown> {
  return {
    session_id: "s1",
    transcript_path: "/home/dev/.claude/projects/x/s1.jsonl",
    cwd,
    permission_mode: "default",
    hook_event_name: "PermissionRequest",
    tool_name: tool,
    tool_input: input,
    ...more,
  };
}

const colours = [
  { label: "Red", description: "the red one" },
  { label: "Blue", description: "the blue one" },
];
export const colour = { question: "Which colour?", header: "Colour", options: colours, multiSelect: false };
export const extras = {
  question: "Which extras?",
  header: "Extras",
  options: [...colours, { label: "Wheels, four", description: "" }],
  multiSelect: true,
};

/** Those that the real CLI sent. */
export const recordedRequests = recordedPayloads
  .map(({ payload }) => payload)
  .filter((payload) => payload.hook_event_name === "PermissionRequest");
