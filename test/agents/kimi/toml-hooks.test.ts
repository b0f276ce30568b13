/** Kimi Code's config.toml: only beckon's entries change, and what Kimi Code would not accept is refused. */
import { describe, expect, test } from "bun:test";
import { kimiSetup } from "../../../src/agents/kimi/setup/index.ts";

const options = { version: "2.1.0", binary: "/home/d'or/bin/beckon", home: null, platform: "linux" } as const;
const { add, count } = kimiSetup.createRegistration(options);
const { entries } = kimiSetup;

const own = '[[hooks]]\nevent = "Stop"\ncommand = "notify-send done"\n';
const files = {
  empty: "",
  settings: 'telemetry = false\ndefault_permission_mode = "manual"\n',
  "without a last line break": 'telemetry = false\n[model]\nname = "k2"',
  "with line breaks of Windows": `telemetry = false\r\n${own.replaceAll("\n", "\r\n")}`,
  "with the user's own hooks": `# mine\n${own}matcher = ".*"\ntimeout = 9\n\n# more\n[model]\nname = "k2"\n`,
  "with a text that looks like a hook": `text = """\n[[hooks]]\nevent = "Stop"\n"""\n`,
};

describe("install, install again, uninstall: the file is as before, byte for byte", () => {
  test.each(Object.entries(files))("%s", (_name, before) => {
    const installed = add(before);
    expect(installed).toStartWith(before);
    const { hooks, ...others } = Bun.TOML.parse(installed) as { hooks: Record<string, unknown>[] };
    const { hooks: userHooks = [], ...rest } = Bun.TOML.parse(before) as { hooks?: object[] };
    expect(others).toEqual(rest);
    expect(hooks.slice(0, userHooks.length)).toEqual(userHooks as Record<string, unknown>[]);
    const added = hooks.slice(userHooks.length);
    expect(added).toHaveLength(count);
    for (const { matcher, ...hook } of added) {
      expect(Object.keys(hook)).toEqual(["event", "command", "timeout"]);
      expect(matcher === undefined || typeof matcher === "string").toBeTrue();
    }
    expect(add(installed)).toBe(installed);
    expect(entries.remove(installed)).toBe(before);
  });
});

test("beckon's entries are found again after Kimi Code has written the file without comments, between others", () => {
  const written = `${add("").replace(/^#.*\n/m, "")}${own}\n# mine\n[model]\nname = "k2"\n`;
  expect(entries.findHomes(written)).toHaveLength(count);
  expect(entries.remove(written)).toBe(`\n${own}\n# mine\n[model]\nname = "k2"\n`);
});

test("Kimi Code calls no hook at most calls of tools", () => {
  const { hooks } = Bun.TOML.parse(add("")) as { hooks: Record<string, string>[] };
  const atCalls = hooks.filter(({ event }) => /ToolUse/.test(event ?? ""));
  expect(atCalls.map(({ event }) => event)).toEqual(["PreToolUse", "PostToolUse", "PostToolUseFailure"]);
  const listCalled = (tool: string) => atCalls.map(({ matcher }) => new RegExp(matcher ?? "").test(tool));
  expect(listCalled("Bash")).toEqual([false, false, false]);
  expect(listCalled("AskUserQuestion")).toEqual([true, true, true]);
});

describe("a file is refused and stays as it is", () => {
  const refused = {
    "if it is not TOML": "telemetry = ",
    "if hooks are written in a line": 'hooks = [{ event = "Stop", command = "x" }]\n',
    "if a hook has a field that switches off all hooks": `${own}name = "mine"\n`,
    "if a hook has an event that switches off all hooks": '[[hooks]]\nevent = "Stopped"\ncommand = "x"\n',
  };
  test.each(Object.entries(refused))("%s", (_name, text) => {
    expect(() => add(text)).toThrow();
  });
});
