import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  addHooks,
  isEmptySettings,
  listOwnHooks,
  removeHooks,
  SettingsError,
  type WantedHook,
} from "../../src/user-files/hooks.ts";
import { command } from "./generate-settings.ts";

const folder = join(import.meta.dir, "../fixtures/settings");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

const wanted: readonly WantedHook[] = [
  { event: "Stop", command, timeout: 5, async: true },
  { event: "PermissionRequest", command, timeout: 3600, async: false },
];
const both = ["Stop", "PermissionRequest"];

/** NAME.json becomes NAME.after.json with the hooks, and NAME.json again without them. */
const untouched = {
  "empty-object": "{} as an editor leaves it",
  "empty-object-broken": "the brackets on two lines",
  plain: "settings without hooks",
  tabs: "indented with tabs",
  "no-newline-at-end": "four spaces, and no newline at the end",
  "one-space": "indented by one space",
  minified: "all on one line, no space",
  "one-line": "all on one line, with space",
  crlf: "line ends of Windows",
  "byte-order-mark": "a byte order mark first",
  "hooks-empty": "hooks: {} was there, and stays when ours go",
  "hooks-empty-minified": "the same on one line",
  "event-empty": "Stop: [] was there, and stays with the space in it",
  "event-empty-broken": "the same on two lines",
  "others-in-same-event": "other tools' hooks for the same event",
  "looks-like-ours": "other tools' hooks that mention beckon",
  numbers: "numbers that JSON.parse would change",
  unicode: "names and texts with escapes; hooks itself written with one",
  "prototype-keys": "__proto__ and its like as names",
  "hooks-twice": "hooks is there twice: the last one counts",
  "mixed-indentation": "tabs here, spaces there",
  "spaced-colons": "space before colons",
  "tight-brackets": "[{ on one line",
  "blank-lines": "blank lines between all",
  "other-events-odd": "nonsense in events that are not ours to write",
};

/** With entries of an earlier beckon. NAME.removed.json is the file after an uninstall. */
const migrated: Readonly<
  Record<string, { trap: string; removed: readonly string[]; added?: readonly string[] }>
> = {
  "by-hand": { trap: "registered by hand, as an earlier README said", removed: both },
  "others-in-our-group": { trap: "ours between two others in one group", removed: ["Stop"] },
  twice: { trap: "two of ours for one event, and another tool's", removed: ["Stop"] },
  "events-no-longer-wanted": {
    trap: "ours where we no longer want to be",
    removed: ["WorktreeCreate", "Setup"],
  },
  "other-matcher": { trap: "ours for one tool only", removed: ["PermissionRequest"] },
  "event-twice": { trap: "Stop is there twice: without the second the first would count", removed: ["Stop"] },
  "args-form": { trap: "ours, called without a shell", removed: ["Stop"] },
  "group-with-more": { trap: "ours alone in a group that says more", removed: ["SubagentStop"] },
  "up-to-date": { trap: "all there, in another order and layout", removed: [], added: [] },
};

const refused = {
  "comment.txt": "line 2, column 20: a comment, which JSON does not allow: remove it",
  "trailing-comma.txt": "line 3, column 1: nothing follows after the last comma: remove the comma",
  "single-quotes.txt": 'line 2, column 3: strings need double quotes (")',
  "merge-conflict.txt": "line 3, column 1: an unresolved merge conflict",
  "cut-off.txt": "line 4, column 19: a closing ] is missing here",
  "two-objects.txt": "line 2, column 1: something follows after the end of the settings",
  "bare-word.txt": 'line 2, column 12: "opus" is not valid JSON',
  "missing-comma.txt": "line 3, column 3: a comma is missing before this",
  "backslash-path.txt": "line 1, column 14: an unknown escape sequence: write \\\\ for a backslash",
  "list.json": "line 1, column 1: settings begin with {",
  "hooks-is-a-list.json": "line 2, column 12: hooks is a list [ ], but must be an object { }",
  "event-is-an-object.json": "line 3, column 13: hooks.Stop is an object { }, but must be a list [ ]",
  "group-is-an-entry.json": "line 4, column 7: hooks.Stop[0].hooks is missing: it must be a list [ ]",
  "entry-is-a-text.json": "line 3, column 26: hooks.Stop[0].hooks[0] is a text, but must be an object { }",
  "matcher-is-a-list.json":
    "line 5, column 20: hooks.PermissionRequest[1].matcher is a list [ ], but must be a text",
};

describe("an uninstall restores the file", () => {
  test.each(Object.entries(untouched))("%s: %s", (name) => {
    const before = read(`${name}.json`);
    const after = read(`${name}.after.json`);
    expect(addHooks(before, wanted)).toEqual({ text: after, added: both, removed: [] });
    expect(addHooks(after, wanted)).toEqual({ text: after, added: [], removed: [] });
    expect(removeHooks(after)).toEqual({ text: before, added: [], removed: expect.arrayContaining(both) });
    expect(removeHooks(before)).toEqual({ text: before, added: [], removed: [] });
  });
});

describe("an install over entries of an earlier beckon", () => {
  const rows = Object.entries(migrated).map(([name, { trap, ...lists }]) => [name, trap, lists] as const);
  test.each(rows)("%s: %s", (name, _, { added = both, removed }) => {
    const before = read(`${name}.json`);
    const after = added.length === 0 ? before : read(`${name}.after.json`);
    const left = read(`${name}.removed.json`);
    expect(addHooks(before, wanted)).toEqual({ text: after, added, removed });
    expect(addHooks(after, wanted)).toEqual({ text: after, added: [], removed: [] });
    expect(removeHooks(after).text).toBe(left);
    expect(removeHooks(before).text).toBe(left);
  });
});

describe("refused with line and column", () => {
  test.each(Object.entries(refused))("%s: %s", (file, message) => {
    const text = read(file);
    expect(() => addHooks(text, wanted)).toThrow(message);
    expect(() => addHooks(text, wanted)).toThrow(SettingsError);
  });
});

test("every fixture is tested", () => {
  const named = [
    ...[...Object.keys(untouched), ...Object.keys(migrated)].flatMap((name) => [
      `${name}.json`,
      `${name}.after.json`,
    ]),
    ...Object.keys(migrated).map((name) => `${name}.removed.json`),
    ...Object.keys(refused),
  ];
  expect(readdirSync(folder).sort()).toEqual(named.filter((file) => existsSync(join(folder, file))).sort());
});

describe("without a settings file", () => {
  test("it is created, and empty after an uninstall", () => {
    const { text, added } = addHooks(null, wanted);
    expect(added).toEqual(both);
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    expect(JSON.parse(text)).toEqual({
      hooks: {
        Stop: [{ hooks: [{ type: "command", command, timeout: 5, async: true }] }],
        PermissionRequest: [{ hooks: [{ type: "command", command, timeout: 3600 }] }],
      },
    });
    expect(isEmptySettings(text)).toBe(false);
    expect(isEmptySettings(removeHooks(text).text)).toBe(true);
  });

  test.each(["", "\n", " \r\n", "\uFEFF"])("a blank file (%j) counts as none", (text) => {
    expect(addHooks(text, wanted)).toEqual(addHooks(null, wanted));
    expect(removeHooks(text)).toEqual({ text, added: [], removed: [] });
    expect(listOwnHooks(text)).toEqual([]);
    expect(isEmptySettings(text)).toBe(true);
  });
});

test("a hook with a matcher is separate from hooks for other tools", () => {
  const matching = [{ event: "Stop", matcher: "Bash", command, timeout: 5, async: false }, ...wanted];
  const { text } = addHooks(null, matching);
  expect(Object.keys(JSON.parse(text).hooks.Stop[0])).toEqual(["matcher", "hooks"]);
  expect(addHooks(text, matching).text).toBe(text);
  expect(addHooks(text, wanted)).toEqual({ text: addHooks(null, wanted).text, added: [], removed: ["Stop"] });
});

test("beckon's hooks are listed, whatever else is wrong in the file", () => {
  expect(listOwnHooks(read("others-in-our-group.json"))).toEqual([
    { event: "Stop", matcher: null, command: "~/.local/bin/beckon hook claude", timeout: 60, async: false },
  ]);
  expect(listOwnHooks(read("other-matcher.json"))[0]?.matcher).toBe("Bash");
  expect(listOwnHooks(read("args-form.json"))[0]?.command).toBe("'/opt/beckon' 'hook' 'claude'");
  expect(
    listOwnHooks('{"hooks":{"Stop":[1,{"hooks":"x"},{"hooks":[{"command":"beckon hook"}]}],"x":{}}}'),
  ).toHaveLength(1);
  expect(listOwnHooks('{"hooks":[{"hooks":[{"type":"command","command":"beckon hook"}]}]}')).toEqual([]);
});

test("an uninstall works although other hooks are malformed", () => {
  const text = '{"hooks":{"Stop":[1,{"hooks":"x"},{"hooks":[{"command":"beckon hook"}]}],"x":{}}}';
  expect(removeHooks(text).text).toBe('{"hooks":{"Stop":[1,{"hooks":"x"}],"x":{}}}');
});

test("a hook that an uninstall would not recognise is not written", () => {
  const stranger = [{ event: "Stop", command: "say done", timeout: 5, async: false }];
  expect(() => addHooks("{}", stranger)).toThrow("beckon would not recognise this hook as its own: say done");
});

test("two hooks for the same event and matcher are refused", () => {
  expect(() => addHooks("{}", [...wanted, ...wanted])).toThrow("would not read back correctly");
});

test("settings of any size and depth are changed or refused quickly", () => {
  const started = performance.now();
  const rows = Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, { allow: ["Bash(x)", i] }]);
  const text = JSON.stringify({ many: Object.fromEntries(rows), hooks: {} }, null, 2);
  expect(text.length).toBeGreaterThan(1_500_000);
  expect(removeHooks(addHooks(text, wanted).text).text).toBe(text);
  expect(performance.now() - started).toBeLessThan(15_000);
  const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  expect(() => addHooks(deep, wanted)).toThrow("nested too deeply");
}, 30_000);
