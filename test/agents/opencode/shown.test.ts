/** opencode: two requests that do different things, and can be allowed, do not look the same. */
import { test } from "bun:test";
import fc from "fast-check";
import { opencodeAnswering } from "../../../src/agents/opencode/answering.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { checkShown, trickyText, unknownField } from "../shown.ts";

const describe = (permission: string, fields: JsonRecord) =>
  opencodeAnswering.describe(
    { type: "permission.asked", session: "s", request: "r", cwd: "/p", permission, ...fields },
    { cwd: "/p" },
  );

const file = fc.record({ filePath: trickyText, movePath: trickyText }, { requiredKeys: ["filePath"] });
/** What opencode's own request says, by permission. */
const metadata: Readonly<Record<string, fc.Arbitrary<JsonRecord>>> = {
  edit: fc.record(
    { filepath: trickyText, diff: trickyText, files: fc.array(file, { maxLength: 2 }) },
    { requiredKeys: ["filepath", "diff"] },
  ),
  webfetch: fc.record({ url: trickyText, format: trickyText, timeout: fc.nat(9) }, { requiredKeys: ["url"] }),
  mcp_tool: fc.dictionary(trickyText, trickyText, { minKeys: 1, maxKeys: 3 }),
};

test("a command, whose request names it and whose call names its folder", () => {
  const call = fc.record(
    { command: trickyText, description: trickyText, workdir: trickyText, timeout: fc.nat(9) },
    { requiredKeys: ["command"] },
  );
  checkShown(
    fc.tuple(call, unknownField).map(([known, more]) => ({ ...more, ...known })),
    (input) => describe("bash", { metadata: { command: input.command }, input, called: "bash" }),
    ({ description: _, ...given }) => given,
  );
});

test.each(Object.entries(metadata))("%s", (permission, fields) => {
  checkShown(
    fc.tuple(fields, unknownField).map(([known, more]) => ({ ...more, ...known })),
    (given) => describe(permission, { metadata: given, patterns: ["*"] }),
    ({ description: _, ...given }) => given,
  );
});

test.each(["read", "external_directory", "list"])("the patterns of %s", (permission) => {
  const pattern = fc.constantFrom("a", "b", "a\nb", "⟨U+000A⟩");
  const patterns = fc.array(pattern, { minLength: 1, maxLength: 3 });
  checkShown(
    fc.record({ patterns }),
    ({ patterns: list }) => describe(permission, { patterns: list }),
    (given) => given,
  );
});
