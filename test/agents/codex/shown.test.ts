/** Codex: two requests that do different things, and can be allowed, do not look the same. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { codexAnswering } from "../../../src/agents/codex/answering.ts";
import { approvalMethods } from "../../../src/agents/codex/server.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { resolvePath } from "../../../src/core/text/paths.ts";
import { quoteForShell } from "../../../src/core/text/shell-quote.ts";
import { checkShown, trickyText, unknownField } from "../shown.ts";

const cwd = "/home/dev/proj";
const describe = (request: JsonRecord) => codexAnswering.describe(request, { cwd });

test("a command, where and with what it runs", () => {
  const shell = fc.constantFrom("/bin/bash", "/bin/bash", "/tmp/bash");
  const command = fc
    .tuple(shell, trickyText)
    .map(([program, script]) => `${program} -lc ${quoteForShell(script)}`);
  const requests = fc.record(
    {
      method: fc.constant(approvalMethods.command),
      command,
      cwd: fc.constantFrom(cwd, "/etc", "/home/dev"),
      kind: fc.constantFrom("command", "command", "writeStdin"),
      environmentId: fc.constantFrom(null, "prod"),
      networkApprovalContext: fc.constantFrom(null, { host: "a" }, { host: "b" }),
      additionalPermissions: fc.option(fc.dictionary(trickyText, trickyText, { maxKeys: 1 })),
      reason: trickyText,
    },
    { requiredKeys: ["method", "command"] },
  );
  checkShown(requests, describe, ({ reason: _, cwd: from = cwd, environmentId, ...others }) => [
    from,
    environmentId ?? null,
    Object.fromEntries(Object.entries(others).filter(([name, value]) => value !== null && name !== "kind")),
  ]);
});

const path = fc.constantFrom("a", "b", "../a", "/a", "/home/dev/.profile", "c d", "⟨write⟩ /a");
const content = fc.array(
  trickyText.map((text) => text.replaceAll("\n", " ")),
  { maxLength: 3 },
);
const section = fc.record({
  kind: fc.constantFrom("add", "delete", "update"),
  path,
  content,
  moveTo: fc.option(path),
});
type Section = typeof section extends fc.Arbitrary<infer Value> ? Value : never;

const headers = { add: "Add", delete: "Delete", update: "Update" } as const;
const write = (sections: readonly Section[]): string => {
  const lines = sections.flatMap(({ kind, path: file, content: text, moveTo }) => [
    `*** ${headers[kind as keyof typeof headers]} File: ${file}`,
    ...(kind === "update" && moveTo !== null ? [`*** Move to: ${moveTo}`] : []),
    ...(kind === "delete" ? [] : text.map((line) => `+${line}`)),
  ]);
  return ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
};
const change = ({ kind, path: file, content: text, moveTo }: Section) => ({
  path: resolvePath(cwd, file),
  kind:
    kind === "update"
      ? { type: kind, move_path: moveTo === null ? null : resolvePath(cwd, moveTo) }
      : { type: kind },
  diff:
    kind === "add"
      ? text.map((line) => `${line.replace(/\r$/, "")}\n`).join("")
      : text.map((line) => `+${line}\n`).join(""),
});
const sections = fc.array(section, { minLength: 1, maxLength: 2 });

test("a change of files, as the server has read it", () => {
  // The server's item says the same as the patch, or has one change that the patch does not have.
  const requests = fc
    .record({
      sections,
      other: fc.option(section, { freq: 2 }),
      grantRoot: fc.option(path),
      more: unknownField,
    })
    .map(({ sections: written, other, grantRoot, more }) => ({
      ...more,
      ...(grantRoot === null ? {} : { grantRoot }),
      item: { patch: write(written), changes: [...written, ...(other === null ? [] : [other])].map(change) },
    }));
  const unpack = ({ item, ...rest }: JsonRecord): JsonRecord => ({
    ...rest,
    ...(item as JsonRecord),
    method: approvalMethods.patch,
    folder: cwd,
  });
  checkShown(
    requests,
    (request) => describe(unpack(request)),
    (request) => {
      const { patch: _, changes, ...others } = unpack(request);
      const done = (changes as ReturnType<typeof change>[]).map(({ kind, diff, ...rest }) =>
        kind.type === "delete" ? { kind, ...rest } : { kind, diff, ...rest },
      );
      return [done, others];
    },
  );
});

test("a change that the patch does not have cannot be allowed", () => {
  fc.assert(
    fc.property(sections, section, (written, other) => {
      fc.pre(!written.some(({ path: file }) => file === other.path));
      const changes = [...written, other].map(change);
      const request = { method: approvalMethods.patch, folder: cwd, patch: write(written), changes };
      expect(describe(request)?.isWhole).toBe(false);
    }),
  );
});
