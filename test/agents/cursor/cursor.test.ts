/** Cursor, as its documentation describes it: beckon has never been run with it. */
import { expect, test } from "bun:test";
import { cursor } from "../../../src/agents/cursor/index.ts";
import { cursorSetup } from "../../../src/agents/cursor/setup/index.ts";
import { translate } from "../../../src/agents/cursor/translate.ts";
import { openEnvelope } from "../../../src/agents/envelope.ts";

const options = { version: null, binary: "/opt/beckon", home: null, platform: "linux" } as const;

test("the hooks are added beside others, and only they are removed", () => {
  const before = `{
  "version": 1,
  "hooks": {
    "stop": [
      {
        "command": "./mine.sh"
      }
    ]
  }
}
`;
  const { add } = cursorSetup.createRegistration(options);
  const after = add(before);
  const { hooks } = JSON.parse(after);
  expect(Object.keys(hooks).sort()).toEqual([
    ...["afterFileEdit", "beforeSubmitPrompt", "sessionEnd", "sessionStart", "stop"],
  ]);
  expect(hooks.stop.map(({ command }: { command: string }) => command)).toEqual([
    "./mine.sh",
    "{ cd / && '/opt/beckon' hook cursor; } 2>/dev/null; exit 0",
  ]);
  expect(add(after)).toBe(after);
  expect(cursorSetup.entries.remove(after)).toBe(before);
});

test("a beckon that moved replaces its own hooks", () => {
  const { add } = cursorSetup.createRegistration(options);
  const moved = cursorSetup.createRegistration({ ...options, binary: "/srv/beckon" }).add(add(null));
  expect(moved).not.toContain("/opt/beckon");
  expect(cursorSetup.entries.findHomes(moved)).toHaveLength(5);
});

test("Cursor is recognised behind a hook of Claude Code's, and shown as Cursor", () => {
  const payload = {
    conversation_id: "c-1",
    generation_id: "g-1",
    cursor_version: "3.2.16",
    session_id: "s-1",
    hook_event_name: "UserPromptSubmit",
    prompt: "go",
    workspace_roots: ["/home/dev/proj"],
  };
  const hook = openEnvelope({ provider: "claude", _meta: {}, payload }, "claude", null);
  expect(hook?.provider).toBe("cursor");
  const event = hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 });
  expect(event).toMatchObject({
    agent: "cursor",
    sessionId: "c-1",
    cwd: "/home/dev/proj",
    change: { kind: "prompt", text: "go" },
  });
});

test("a stopped turn is interrupted, a failed one has its error", () => {
  const changeOf = (status: string) => {
    const payload = { conversation_id: "c", hook_event_name: "stop", status, error_message: "no network" };
    const hook = openEnvelope({ _meta: {}, payload }, "cursor", null);
    return hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })?.change;
  };
  expect(changeOf("aborted")).toEqual({ kind: "interrupted" });
  expect(changeOf("error")).toMatchObject({ kind: "turn-end", error: "no network" });
  expect(changeOf("completed")).toMatchObject({ kind: "turn-end", error: null });
});

test("an edit names its file, and its text is not kept", () => {
  const edits = [{ old_string: "secret old", new_string: "secret new" }];
  const payload = { conversation_id: "c", hook_event_name: "afterFileEdit", file_path: "/p/a.ts", edits };
  const hook = openEnvelope({ _meta: {}, payload }, "cursor", null);
  expect(hook && translate(hook, { id: "e", key: "k", at: 1, t: 1 })?.change).toMatchObject({
    kind: "tool-end",
    editPaths: ["/p/a.ts"],
  });
  expect(cursor.stripToolOutput(JSON.stringify(payload), 0, payload)).not.toContain("secret");
});
