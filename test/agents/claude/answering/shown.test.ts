/** Claude Code: two requests that do different things, and can be allowed, do not look the same. */
import { test } from "bun:test";
import fc from "fast-check";
import { describeRequest } from "../../../../src/agents/claude/answering/describe.ts";
import type { JsonRecord } from "../../../../src/core/json.ts";
import { resolvePath } from "../../../../src/core/text/paths.ts";
import { checkShown, trickyText, unknownField } from "../../shown.ts";
import { cwd, request } from "./requests.ts";

const path = fc.oneof(
  fc.constantFrom("a", "b/c", "../a", ".profile").map((name) => `${cwd}/${name}`),
  trickyText.map((name) => `/etc/x${name}`),
);

/** Nothing of the change depends on whether the last line ends with a line break. */
const withoutFinalBreak = (text: unknown): unknown =>
  typeof text === "string" ? text.replace(/\n$/, "") : text;

/** What the tool does with its input, as Claude Code reads it. */
function effectOf({ description: _, timeout: __, ...input }: JsonRecord): JsonRecord {
  const { file_path, notebook_path, old_string, new_string, content, new_source, edits, ...others } = input;
  const texts = Object.entries({ old_string, new_string, content, new_source });
  const paths = Object.entries({ file_path, notebook_path });
  return {
    ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== false)),
    ...Object.fromEntries(texts.map(([name, text]) => [name, withoutFinalBreak(text)])),
    ...Object.fromEntries(paths.map(([name, file]) => [name, file && resolvePath("/", String(file))])),
    edits: Array.isArray(edits) ? edits.map(effectOf) : edits,
  };
}

const edit = fc.record({ old_string: trickyText, new_string: trickyText, replace_all: fc.boolean() });
const inputs: Readonly<Record<string, fc.Arbitrary<JsonRecord>>> = {
  Bash: fc.record(
    {
      command: trickyText,
      description: trickyText,
      run_in_background: fc.boolean(),
      dangerouslyDisableSandbox: fc.boolean(),
    },
    { requiredKeys: ["command"] },
  ),
  Edit: fc.record({
    file_path: path,
    old_string: trickyText,
    new_string: trickyText,
    replace_all: fc.boolean(),
  }),
  MultiEdit: fc.record({ file_path: path, edits: fc.array(edit, { minLength: 1, maxLength: 2 }) }),
  Write: fc.record({ file_path: path, content: trickyText }),
  NotebookEdit: fc.record(
    { notebook_path: path, new_source: trickyText, cell_id: trickyText, edit_mode: trickyText },
    { requiredKeys: ["notebook_path", "new_source"] },
  ),
  Read: fc.record({ file_path: path, offset: fc.nat(9), limit: fc.nat(9) }, { requiredKeys: ["file_path"] }),
  WebFetch: fc.record({ url: trickyText.map((text) => `https://a.example/${text}`), prompt: trickyText }),
  WebSearch: fc.record({ query: trickyText, allowed_domains: fc.array(trickyText, { maxLength: 2 }) }),
  Glob: fc.record({ pattern: trickyText, path }, { requiredKeys: ["pattern"] }),
  mcp__server__tool: fc.dictionary(trickyText, trickyText, { maxKeys: 3 }),
};

test.each(Object.entries(inputs))("%s", (tool, input) => {
  checkShown(
    fc.tuple(input, unknownField).map(([fields, more]) => ({ ...more, ...fields })),
    (fields) => describeRequest(request(tool, fields), { cwd }),
    effectOf,
  );
});
