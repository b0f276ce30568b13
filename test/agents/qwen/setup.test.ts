/** Install for Qwen Code: its settings with beckon's hooks and channel, and without a trace of them. */
import { describe, expect, test } from "bun:test";
import { createQwenSetup } from "../../../src/agents/qwen/setup/index.ts";

const { createRegistration, entries } = createQwenSetup({ systemPaths: [] });
const options = { version: "0.24.4", binary: "/opt/beckon", home: null, platform: "linux" } as const;
const { add } = createRegistration(options);
const channel = { jsonFile: "$HOME/.qwen/beckon-events", inputFile: "$HOME/.qwen/beckon-answers.jsonl" };

const userHook = '{ "hooks": [{ "type": "command", "command": "notify-send done" }] }';
const files = {
  "an empty object": "{}\n",
  "other settings": '{\n  "model": { "name": "qwen3" },\n  "ui": {}\n}\n',
  "on one line": '{"model":{"name":"qwen3"}}',
  "the user's own hooks, with tabs": `{\n\t"hooks": {\n\t\t"Stop": [${userHook}]\n\t},\n\t"ui": {}\n}`,
  "line breaks of Windows": '{\r\n  "hooks": {}\r\n}\r\n',
};

describe("install, install again, uninstall: the file is as before, byte for byte", () => {
  test.each(Object.entries(files))("%s", (_name, before) => {
    const installed = add(before);
    expect(installed).toContain('"$HOME/.qwen/beckon-events"');
    expect(add(installed)).toBe(installed);
    expect(entries.remove(installed)).toBe(before);
  });
});

test("of the hooks at every call, Qwen Code waits for none, or only for a shell", () => {
  type Hook = { readonly async?: boolean; readonly command: string };
  const { hooks } = JSON.parse(add(null)) as { hooks: Record<string, { hooks: Hook[] }[]> };
  const list = (isMatch: (hook: Hook) => boolean) =>
    Object.keys(hooks).filter((event) => hooks[event]?.every((group) => group.hooks.every(isMatch)));
  expect(list((hook) => hook.async === true)).toEqual(["PreToolUse", "PostToolBatch"]);
  expect(list(({ command }) => command.includes("<&3 & }"))).toEqual(["UserPromptSubmit"]);
});

test("the user's own second channel stays as it is, and nothing is answered through it", () => {
  const before = '{\n  "dualOutput": { "jsonFile": "/tmp/mine" }\n}\n';
  expect(JSON.parse(add(before)).dualOutput).toEqual({ jsonFile: "/tmp/mine" });
  expect(entries.remove(add(before))).toBe(before);
});

test("Windows has no such pipes: only the hooks are added", () => {
  const windows = createRegistration({ ...options, platform: "win32", binary: "C:\\beckon.exe" });
  expect(JSON.parse(windows.add(null))).not.toHaveProperty("dualOutput");
  expect(JSON.parse(add(null)).dualOutput).toEqual(channel);
});
