import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Route, routes } from "../../src/api/routes.ts";
import { type AppFixture, createAppFixture, createPromptEvent } from "../app-fixture.ts";

/** Every endpoint that takes a body, except the one that ends beckon. */
const paths = Object.values<Route>(routes)
  .filter(({ method, path }) => method === "POST" && path !== routes.stop.path)
  .map(({ path }) => path);

let fixture: AppFixture;
beforeAll(async () => {
  fixture = createAppFixture();
  const project = join(fixture.home, "proj");
  mkdirSync(project);
  mkdirSync(fixture.env.BECKON_HOME ?? "");
  const workGuard = { mode: "strict", context: true, projects: { [project]: { mode: "warn" } } };
  writeFileSync(fixture.paths.config, JSON.stringify({ workGuard }));
  await fixture.start();
  await fixture.postHook(createPromptEvent("s1", { cwd: project }));
});
afterAll(() => fixture.destroy());

/** Fields that every object has already. */
const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length"];
const fields = [
  ...[
    "provider",
    "_meta",
    "payload",
    "session_id",
    "sessionID",
    "hook_event_name",
    "hook_type",
    "cwd",
    "source",
  ],
  ...["tool_name", "tool_input", "file_path", "command", "patch", "edits", "prompt", "questions", "options"],
  ...[
    "id",
    "how",
    "answer",
    "decision",
    "confirmed",
    "minutes",
    "mode",
    "until",
    "muted",
    "off",
    "env",
    "pid",
  ],
  ...["expires", "pageNonce", "nonce", "proof", "workspace", "current_dir", "context_window", "model"],
];
const words = [
  ...["claude", "codex", "opencode", "gemini", "copilot", "PreToolUse", "PostToolUse", "PermissionRequest"],
  ...["SessionStart", "BeforeTool", "UserPromptSubmit", "Stop", "Edit", "Write", "apply_patch", "Bash", "s1"],
  ...["", "/", "..", "~", "\0", "C:\\x", "*** Begin Patch\n*** Update File: __proto__\n*** End Patch"],
];
const toText = (value: unknown): string => JSON.stringify(value);
/** JSON as a text: a field named __proto__ cannot be made with an object. */
const { object: anyObject, value: anyValue } = fc.letrec<{ object: string; value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...inherited, ...words, null, true, 0, -1, 1e308, 0.5).map(toText),
    fc.string({ unit: "binary", maxLength: 20 }).map(toText),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...fields, ...fields, ...inherited), tie("value")), { maxLength: 8 })
    .map((pairs) => `{${pairs.map(([name, value]) => `${toText(name)}:${value}`).join(",")}}`),
}));
/** What a hook sends, with folders and files that are named like inherited fields. */
const anyHook = fc
  .record({
    provider: fc.constantFrom("claude", "codex", "opencode", "gemini", "copilot"),
    event: fc.constantFrom("PreToolUse", "SessionStart", "BeforeTool", "PostToolUse", "preToolUse"),
    cwd: fc.constantFrom(...inherited, "/", "/__proto__", "/home/dev/constructor"),
    file: fc.constantFrom(...inherited, "/__proto__/x", "a/constructor"),
    tool: fc.constantFrom("Edit", "Write", "apply_patch", ...inherited),
    session: fc.constantFrom(...inherited, "s1"),
  })
  .map(({ provider, event, cwd, file, tool, session }) =>
    toText({
      provider,
      _meta: {},
      payload: {
        session_id: session,
        hook_event_name: event,
        cwd,
        tool_name: tool,
        tool_input: { file_path: file, command: `*** Begin Patch\n*** Update File: ${file}\n*** End Patch` },
      },
    }),
  );
const anyName = fc.constantFrom("s1", "claude:s1", "--next", ...inherited, "%00", "%ff");

test("no body makes an endpoint fail", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...paths),
      anyName,
      fc.oneof({ weight: 3, arbitrary: anyHook }, { weight: 3, arbitrary: anyObject }, anyValue, fc.string()),
      async (path, name, body) => {
        const { status } = await fixture.post(body, path.replace(":id", name));
        // A request that is held open for an answer has a status too.
        expect([path, status]).not.toEqual([path, 500]);
      },
    ),
    { numRuns: 3_000, seed: 4_488 },
  );
}, 60_000);
