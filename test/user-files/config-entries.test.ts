import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { version } from "../../package.json";
import { parseConfig } from "../../src/core/config/config.ts";
import { createConfigTemplate } from "../../src/core/config/config-template.ts";
import { dropEntry, setEntry, writeEntry } from "../../src/user-files/config-entries.ts";

const phone = { type: "ntfy", topic: "t", accounts: ["1"] };
const read = (text: string) => JSON.parse(text.replace("\ufeff", ""));

test.each([
  ["an empty object", "{}"],
  ["settings on several lines", '{\n    "alerts": {\n        "sound": false\n    }\n}\n'],
  ["settings on one line", '{"alerts":{"sound":false}}'],
  ["tabs and Windows' line ends", '{\r\n\t"//": "mine",\r\n\t"channels": {}\r\n}\r\n'],
  ["another channel", '{\n  "channels": {\n    "work": {"type": "slack"}\n  },\n  "autoLaunch": false\n}\n'],
  ["a byte order mark", '\ufeff{"autoLaunch": true}'],
])("a channel is added to %s", (_, text) => {
  const before = read(text);
  const after = setEntry(text, "channels", "phone", phone);
  expect(read(after)).toEqual({ ...before, channels: { ...before.channels, phone } });
});

test.each(["", " \n"])("a file that is %j lists every setting, as one that Settings… makes does", (text) => {
  const template = createConfigTemplate(version);
  const after = setEntry(text, "channels", "phone", { type: "ntfy" });
  const added = ',\n  "channels": {\n    "phone": {\n      "type": "ntfy"\n    }\n  }';
  expect(after).toContain(added);
  expect(after.replace(added, "")).toBe(template);
  expect(parseConfig(read(after)).problems).toEqual([]);
  expect(dropEntry(after, "channels", "phone")).toBe(
    after.replace(/"channels": \{[\s\S]*?\n {2}\}/, '"channels": {}'),
  );
});

test("everything else stays as it was, byte for byte", () => {
  const text =
    '{ "quietHours" : null,\n\n  "channels": {\n    "work": { "type":"slack" }\n  },  "autoLaunch":true }\n';
  const after = setEntry(text, "channels", "phone", { type: "ntfy" });
  expect(after).toBe(
    '{ "quietHours" : null,\n\n  "channels": {\n    "work": { "type":"slack" },\n    "phone" : {\n      "type" : "ntfy"\n    }\n  },  "autoLaunch":true }\n',
  );
});

test("a channel of the same name is replaced in its place", () => {
  const text = '{"channels": {"phone": {"type": "slack", "x": [1]}, "work": {"type": "ntfy"}}}';
  expect(read(setEntry(text, "channels", "phone", phone))).toEqual({
    channels: { phone, work: { type: "ntfy" } },
  });
});

test.each([
  ["comments", '{ // mine\n "channels": {} }'],
  ["a missing bracket", '{"channels": {'],
  ["a list", "[]"],
  ["channels that are not an object", '{"channels": []}'],
])("%s are refused, and nothing is changed", (_, text) => {
  expect(() => setEntry(text, "channels", "phone", phone)).toThrow();
});

test.each([
  [
    "in the middle",
    '{"channels": {"a": {}, "phone": {"x": 1}, "b": {}}, "c": 1}',
    '{"channels": {"a": {}, "b": {}}, "c": 1}',
  ],
  ["first", '{"channels": {"phone": {"x": 1}, "b": {}}}', '{"channels": {"b": {}}}'],
  [
    "last on its own line",
    '{\n "channels": {\n  "a": {},\n  "phone": {}\n }\n}\n',
    '{\n "channels": {\n  "a": {}\n }\n}\n',
  ],
  ["alone", '{ "channels": { "phone": {} } }', '{ "channels": {} }'],
  ["written twice", '{"channels": {"phone": {}, "phone": {"x": 1}}}', '{"channels": {}}'],
])("a channel that is %s is removed, and everything else stays byte for byte", (_, text, expected) => {
  expect(dropEntry(text, "channels", "phone")).toBe(expected);
});

test.each(["", "{}", '{"channels": []}', '{"channels": {"a": {}}}'])(
  "%p has no channel to remove",
  (text) => {
    expect(dropEntry(text, "channels", "phone")).toBeNull();
  },
);

test("for any settings, only the channel changes", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const names = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");
  const layouts = fc.constantFrom(undefined, 2, 4, "\t");
  fc.assert(
    fc.property(
      fc.dictionary(names, json),
      fc.dictionary(names, json),
      layouts,
      (settings, channels, indent) => {
        const all = { ...settings, channels };
        const after = read(setEntry(JSON.stringify(all, null, indent), "channels", "phone", phone));
        expect(after).toEqual(JSON.parse(JSON.stringify({ ...all, channels: { ...channels, phone } })));
      },
    ),
    { numRuns: 200 },
  );
});

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "beckon-config-")));
});
afterEach(() => rmSync(home, { recursive: true }));

test("the file is created with its folder, for its owner only", async () => {
  const path = join(home, "config", "config.json");
  await writeEntry(path, home, "channels", "phone", phone);
  expect(read(readFileSync(path, "utf8")).channels).toEqual({ phone });
  expect(statSync(path).mode & 0o077).toBe(0);
});

test("a link stays a link, and the file behind it keeps its mode", async () => {
  mkdirSync(join(home, "dotfiles"));
  const target = join(home, "dotfiles", "config.json");
  writeFileSync(target, "{}\n");
  chmodSync(target, 0o644);
  const path = join(home, "config.json");
  symlinkSync(target, path);
  await writeEntry(path, home, "channels", "phone", phone);
  expect(read(readFileSync(target, "utf8"))).toEqual({ channels: { phone } });
  expect(readFileSync(path, "utf8")).toBe(readFileSync(target, "utf8"));
  expect(statSync(target).mode & 0o777).toBe(0o644);
});

test("a file that is not valid JSON stays as it is, and the error says where", async () => {
  const path = join(home, "config.json");
  writeFileSync(path, '{\n  "alerts": {\n');
  await expect(writeEntry(path, home, "channels", "phone", phone)).rejects.toThrow(/config\.json.*line 3/);
  expect(readFileSync(path, "utf8")).toBe('{\n  "alerts": {\n');
});
