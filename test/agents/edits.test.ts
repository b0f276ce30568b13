/** Every agent's edits name their files, so that the work guard can record them. */
import { expect, test } from "bun:test";
import { openEnvelope } from "../../src/agents/envelope.ts";
import { loadAgents } from "../../src/agents/index.ts";
import type { JsonRecord } from "../../src/core/json.ts";

const patch =
  "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Add File: src/b.ts\n+c\n*** End Patch";
const edits: Readonly<Record<string, readonly JsonRecord[]>> = {
  claude: ["Edit", "Write", "MultiEdit"].map((tool_name) => ({
    ...{ session_id: "s", hook_event_name: "PreToolUse", tool_name },
    tool_input: { file_path: "src/a.ts" },
  })),
  codex: [
    {
      ...{ session_id: "s", hook_event_name: "PreToolUse", tool_name: "apply_patch" },
      tool_input: { command: patch },
    },
  ],
  gemini: ["write_file", "replace"].map((tool_name) => ({
    ...{ session_id: "s", hook_event_name: "BeforeTool", tool_name },
    tool_input: { file_path: "src/a.ts" },
  })),
  opencode: [
    ...["write", "edit", "multiedit"].map((tool) => ({
      ...{ type: "tool.started", session: "s", call: "c", tool },
      input: { filePath: "src/a.ts" },
    })),
    { type: "tool.started", session: "s", call: "c", tool: "apply_patch", input: { patchText: patch } },
  ],
};

test("copilot, whose hooks come after the edit", async () => {
  const agent = (await loadAgents()).get("copilot");
  for (const [tool_name, tool_input, editPaths] of [
    ["Write", { path: "/p/a.ts", file_text: "x" }, ["/p/a.ts"]],
    ["Edit", { path: "/p/a.ts", old_str: "x", new_str: "y" }, ["/p/a.ts"]],
    ["Edit", { input: patch }, ["src/a.ts", "src/b.ts"]],
    ["Edit", { input: patch.replaceAll("\n", "\r\n") }, ["src/a.ts", "src/b.ts"]],
    ["Bash", { command: "ls" }, undefined],
  ] as const) {
    const payload = { session_id: "s", hook_event_name: "PostToolUse", tool_name, tool_input };
    const message = openEnvelope({ provider: "copilot", _meta: {}, payload }, "copilot", null);
    const event = message && agent?.translate(message, { id: "e", key: "k", at: 1, t: 1 });
    expect(event?.change).toMatchObject({ kind: "tool-end", ...(editPaths ? { editPaths } : {}) });
    expect("editPaths" in (event?.change ?? {})).toBe(editPaths !== undefined);
  }
});

test.each(Object.entries(edits))("%s", async (provider, payloads) => {
  const agent = (await loadAgents()).get(provider);
  for (const payload of payloads) {
    const message = openEnvelope({ provider, _meta: {}, payload }, provider, null);
    const event = message && agent?.translate(message, { id: "e", key: "k", at: 1, t: 1 });
    const isPatch = JSON.stringify(payload).includes("Begin Patch");
    expect(event?.change).toMatchObject({
      kind: "tool-start",
      editPaths: isPatch ? ["src/a.ts", "src/b.ts"] : ["src/a.ts"],
    });
  }
});
