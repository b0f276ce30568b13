/** Generates settings files as users and tools write them, and reads them in a second, independent way. */
import fc from "fast-check";
import { type Node, parseTree } from "jsonc-parser";
import {
  createExecCommand,
  createShellCommand,
  type HookCommand,
} from "../../src/user-files/hook-command.ts";
import type { WantedHook } from "../../src/user-files/hooks.ts";

const parts = { binary: "/home/ann/.local/bin/beckon", agent: "claude", home: null };
export const command = createShellCommand(parts).command;
const exec = createExecCommand(parts);

export const wanted: readonly WantedHook[] = [
  { event: "Stop", ...exec, timeout: 5, async: true },
  { event: "PreToolUse", ...exec, timeout: 5, async: true },
  { event: "PermissionRequest", command, timeout: 3600, async: false },
  { event: "Notification", matcher: "permission_prompt", command, timeout: 5, async: false },
];

/** As earlier versions and users wrote them. */
const outdated: readonly HookCommand[] = [
  { command: "~/.local/bin/beckon hook claude" },
  { command: '"$HOME/bin/beckon" hook claude' },
  { command: "beckon hook" },
  { command: "cd / && [ -x '/opt/b/beckon' ] && '/opt/b/beckon' hook claude; exit 0" },
  { command: "BECKON_URL=http://127.0.0.1:4488 sh /opt/beckon-hook.sh claude" },
  { command: "/opt/b/beckon", args: ["hook", "claude"] },
  createExecCommand({ ...parts, home: "/srv/b" }),
];
const own: readonly HookCommand[] = [{ command }, exec, ...outdated];

/** JSON with texts and numbers as written, to be printed in any layout. */
type Value =
  | string
  | { readonly items: readonly Value[] }
  | { readonly properties: readonly [string, Value][] };

export interface Style {
  readonly unit: string | null;
  readonly eol: string;
  readonly colon: string;
  readonly gap: string;
  /** Inside an empty {} or []. */
  readonly inside: string;
  /** Instead of all of the above: random white space. */
  readonly wild: readonly string[] | null;
}

function print(value: Value, style: Style): string {
  let turn = 0;
  const wild = (): string => style.wild?.[turn++ % style.wild.length] ?? "";
  const show = (shown: Value, indent: string): string => {
    if (typeof shown === "string") return shown;
    const inner = indent + (style.unit ?? "");
    const colon = () => (style.wild ? `${wild()}:${wild()}` : style.colon);
    const [members, open, close] =
      "items" in shown
        ? [shown.items.map((item) => () => show(item, inner)), "[", "]"]
        : [
            shown.properties.map(
              ([key, item]) =>
                () =>
                  `${key}${colon()}${show(item, inner)}`,
            ),
            "{",
            "}",
          ];
    if (style.wild)
      return open + wild() + members.map((member) => member() + wild()).join(`,${wild()}`) + close;
    if (members.length === 0) return open + style.inside + close;
    if (style.unit === null) return open + members.map((member) => member()).join(`,${style.gap}`) + close;
    return `${open}${members.map((member) => style.eol + inner + member()).join(",")}${style.eol}${indent}${close}`;
  };
  return show(value, "");
}

const eol = fc.constantFrom("\n", "\n", "\r\n");
const space = fc.stringMatching(/^[ \t]{0,3}$/);
const tidy: fc.Arbitrary<Style> = fc.record({
  unit: fc.constantFrom(null, "\t", " ", "  ", "   ", "    ", "        "),
  eol,
  colon: fc.constantFrom(": ", ": ", ":", " : "),
  gap: fc.constantFrom("", " "),
  inside: fc.oneof(
    fc.constant(""),
    space,
    fc.tuple(eol, space).map((both) => both.join("")),
  ),
  wild: fc.constant(null),
});
const untidy: fc.Arbitrary<Style> = fc.record({
  unit: fc.constant(null),
  eol,
  colon: fc.constant(""),
  gap: fc.constant(""),
  inside: fc.constant(""),
  wild: fc.array(fc.stringMatching(/^[ \t\r\n]{0,4}$/), { minLength: 1, maxLength: 7 }),
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }).map((made) => JSON.stringify(made)),
  fc.constantFrom('"\\u0041\\/\\n"', '"\\ud800"', '"beckon hook claude"', '"{[,:]}\\""', '"\u2028"', '""'),
);
const number = fc.constantFrom(
  "0",
  "-0",
  "1e400",
  "0.10000000000000000001",
  "12345678901234567890123",
  "1E-7",
  "1.0",
);
const key = fc.oneof(text, fc.constantFrom('"__proto__"', '"model"', '"env"', '"constructor"', '"a"'));
const anything: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(text, number, fc.constantFrom("true", "false", "null")),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => ({ items })),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 3 }).map((properties) => ({ properties })),
  ),
})).value;

const object = (...properties: [string, Value][]): Value => ({ properties });
const entry = ({ command, args }: HookCommand, more: readonly [string, Value][]): Value =>
  object(
    ['"type"', '"command"'],
    ['"command"', JSON.stringify(command)],
    ...(args ? [['"args"', { items: args.map((word) => JSON.stringify(word)) }] as [string, Value]] : []),
    ...more,
  );

const theirCommands: readonly HookCommand[] = [
  { command: "echo beckon hook claude" },
  { command: "/opt/beckon-logger hook" },
  { command: "notify 'done' # ✔" },
  { command: "tool hook claude" },
  { command: "/usr/bin/env", args: ["/opt/tool", "hook", "claude"] },
];
const theirMore = fc.constantFrom<[string, Value][]>(
  [],
  [['"timeout"', "10"]],
  [['"x"', object(['"y"', "1e400"])]],
);
const theirs = fc
  .tuple(fc.constantFrom(...theirCommands), theirMore)
  .map(([made, more]) => entry(made, more));
const ours = fc.tuple(fc.constantFrom(...own), theirMore).map(([made, more]) => entry(made, more));

const matcher = fc.constantFrom<[string, Value][]>(
  [],
  [],
  [['"matcher"', '"Bash"']],
  [['"matcher"', '""']],
  [['"matcher"', '"permission_prompt"']],
  [
    ['"note"', "1.50"],
    ['"matcher"', '"*"'],
  ],
);
const events = ["Stop", "PreToolUse", "PermissionRequest", "Notification", "Setup", "NotYetKnown"];

function hooksWith(entries: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  const group = fc
    .tuple(matcher, fc.array(entries, { maxLength: 3 }))
    .map(([properties, items]) => object(...properties, ['"hooks"', { items }]));
  const event = fc.constantFrom(...events.map((name) => JSON.stringify(name)), '"St\\u006fp"');
  return fc
    .array(
      fc.tuple(
        event,
        fc.array(group, { maxLength: 3 }).map((items): Value => ({ items })),
      ),
      { maxLength: 4 },
    )
    .map((properties) => object(...properties));
}

export interface Made {
  readonly text: string;
  readonly style: Style;
}

function settingsWith(entries: fc.Arbitrary<Value>): fc.Arbitrary<Made> {
  const hooks = fc.tuple(fc.constantFrom('"hooks"', '"hooks"', '"h\\u006foks"'), hooksWith(entries));
  const others = fc.array(fc.tuple(key, anything), { maxLength: 3 });
  return fc
    .record({
      before: others,
      hooks: fc.array(hooks, { maxLength: 2 }),
      after: others,
      style: fc.oneof({ weight: 3, arbitrary: tidy }, { weight: 1, arbitrary: untidy }),
      bom: fc.constantFrom("", "", "\uFEFF"),
      end: fc.constantFrom("", "\n", "\r\n", "  \n\n"),
    })
    .map(({ before, hooks, after, style, bom, end }) => ({
      text: bom + print(object(...before, ...hooks, ...after), style) + end,
      style,
    }));
}

export const untouchedSettings = settingsWith(theirs);
export const settingsWithOurs = settingsWith(fc.oneof(theirs, ours));

const isOurs = (entry: unknown): boolean =>
  typeof entry === "object" &&
  entry !== null &&
  "command" in entry &&
  own.some(
    ({ command, args }) =>
      command === entry.command &&
      JSON.stringify(args) === JSON.stringify("args" in entry ? entry.args : undefined),
  );

/**
 * All that is in a settings text and is not ours, as it is written: names, order, digits. Where nothing is left of a
 * group, an event or hooks, it does not count.
 */
export function rest(text: string): unknown {
  const body = text.replace("\uFEFF", "");
  const raw = (node: Node, path: readonly string[]): unknown => {
    const children = node.children ?? [];
    if (node.type === "array") {
      const kept = children.filter(
        (child) =>
          !(isEntryList(path) && isOurs(JSON.parse(body.slice(child.offset, child.offset + child.length)))),
      );
      const items = kept.map((child) => raw(child, [...path, "*"]));
      return isGroupList(path) ? items.filter((item) => JSON.stringify(item) !== "null") : items;
    }
    if (node.type !== "object") return body.slice(node.offset, node.offset + node.length);
    const names = children.map((child) => String(child.children?.[0]?.value));
    const members = children.flatMap((child, i) => {
      const [name, value] = child.children ?? [];
      if (!name || !value) return [];
      // Of two with the same name only the last counts; the other is ordinary text.
      const isRead = names.lastIndexOf(names[i] ?? "") === i;
      const made = raw(value, isRead ? [...path, names[i] ?? ""] : ["(not read)"]);
      const isOpen = isRead && (path.length === 0 ? names[i] === "hooks" : path.join() === "hooks");
      const isEmpty = made === null || (Array.isArray(made) && made.length === 0);
      return isOpen && isEmpty ? [] : [[body.slice(name.offset, name.offset + name.length), made]];
    });
    if (path.length === 3 && path[0] === "hooks" && members.every(([name, made]) => isNothing(name, made)))
      return null;
    return members.length === 0 && path.join() === "hooks"
      ? null
      : Object.assign(members, { isObject: true });
  };
  const root = parseTree(body);
  return root && raw(root, []);
}

const isEntryList = (path: readonly string[]): boolean =>
  path.length === 4 && path[0] === "hooks" && path[2] === "*" && path[3] === "hooks";
const isGroupList = (path: readonly string[]): boolean => path.length === 2 && path[0] === "hooks";
const isNothing = (name: unknown, made: unknown): boolean =>
  name === '"matcher"' || (name === '"hooks"' && Array.isArray(made) && made.length === 0);
