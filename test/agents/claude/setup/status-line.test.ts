import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { claudeSetup } from "../../../../src/agents/claude/setup/index.ts";
import {
  addStatusLine,
  findStatusLineHomes,
  removeStatusLine,
  updateStatusLine,
} from "../../../../src/agents/claude/setup/status-line.ts";
import { addHooks, removeHooks } from "../../../../src/user-files/hooks.ts";

const caller = { binary: "/home/dev/.local/bin/beckon", home: null };
const moved = { binary: "/opt/b e/beckon", home: "/home/dev/it's here" };
const commandOf = (text: string): string => JSON.parse(text).statusLine.command;

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

function run(command: string, input: string, shell = "sh"): Run {
  const { stdout, stderr, exitCode } = Bun.spawnSync({
    cmd: [shell, "-c", command],
    stdin: Buffer.from(input),
    env: { PATH: process.env.PATH },
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), code: exitCode };
}

const userCommands = [
  "cat",
  "printf '\\033[31mred\\033[0m\\nsecond line'",
  "echo one; echo two >&2; exit 3",
  "jq -r .model.id 2>/dev/null || echo none # my line",
  "false",
  "no-such-program-anywhere",
  "read -r line; printf '%s|' \"$line\"; cat | wc -c",
  `x=$(cat); echo "\${#x}"`,
  "cat <<'END'\nhere\nEND",
  "exec cat",
  "(cat)",
  "",
  "# nothing yet",
];
const input = '{"session_id":"s","cwd":"/a b/\\"c\\"","n":"100%"}\n\n';

describe("a user's own status line", () => {
  for (const shell of ["sh", "bash"]) {
    test.each(userCommands)(
      `prints the same, with the same exit code, beside beckon in ${shell}: %s`,
      (command) => {
        const text = JSON.stringify({ statusLine: { type: "command", command } });
        // There is no beckon at that path.
        const chained = commandOf(addStatusLine(text, caller));
        expect(run(chained, input, shell)).toEqual(run(command, input, shell));
      },
    );
  }

  test("gets its input while beckon gets a copy", async () => {
    const folder = (await import("node:fs")).mkdtempSync("/tmp/beckon-status-line-");
    const binary = `${folder}/beckon`;
    await Bun.write(
      binary,
      `#!/bin/sh\necho noise; echo noise >&2; cat > ${folder}/copy; echo "$*" > ${folder}/args\n`,
    );
    Bun.spawnSync(["chmod", "+x", binary]);
    const text = JSON.stringify({ statusLine: { type: "command", command: "cat" } });
    const chained = commandOf(addStatusLine(text, { binary, home: null }));
    expect(run(chained, input)).toEqual({ stdout: input, stderr: "", code: 0 });
    const { waitUntil } = await import("../../../wait-until.ts");
    await waitUntil(() => Bun.file(`${folder}/args`).size > 0, 5_000);
    expect(await Bun.file(`${folder}/copy`).text()).toBe(input);
    expect(await Bun.file(`${folder}/args`).text()).toBe("hook claude --statusline\n");
    Bun.spawnSync(["rm", "-r", folder]);
  });

  test("without one, beckon prints nothing and never fails", () => {
    expect(run(commandOf(addStatusLine("{}", caller)), input)).toEqual({ stdout: "", stderr: "", code: 0 });
  });
});

const files: [string, string][] = [
  ["no status line", '{\n  "model": "opus"\n}\n'],
  ["nothing", "{}\n"],
  ["an empty object on two lines", "{\n}\n"],
  [
    "a status line",
    '{\n  "statusLine": { "type": "command", "command": "~/.claude/line.sh", "padding": 0 }\n}\n',
  ],
  ["odd escapes", '{"statusLine":{"type":"command","command":"echo \\u00e9 \\/ \\"x\\""},"a":1}'],
  ["a byte order mark", '\uFEFF{\r\n\t"statusLine": {\r\n\t\t"command": "x"\r\n\t}\r\n}\r\n'],
  ["an empty command", '{"statusLine":{"type":"command","command":""}}'],
];

describe("the settings", () => {
  test.each(files)("are the same after adding and removing it: %s", (_, text) => {
    const added = addStatusLine(text, caller);
    expect(added).not.toBe(text);
    expect(findStatusLineHomes(added)).toEqual([null]);
    expect(addStatusLine(added, caller)).toBe(added);
    expect(removeStatusLine(added)).toBe(text);
    const updated = updateStatusLine(added, moved);
    expect(findStatusLineHomes(updated)).toEqual([moved.home]);
    expect(removeStatusLine(updated)).toBe(text);
  });

  test.each(files)("are the same after an install and an uninstall: %s", (_, text) => {
    const options = { ...caller, version: "2.1.325", platform: "linux", statusLine: true } as const;
    const installed = claudeSetup.createRegistration(options).add(text);
    expect(installed).toContain("--statusline");
    // An install that does not name the status line leaves it; one that turns it off keeps the hooks.
    expect(claudeSetup.createRegistration({ ...options, statusLine: undefined }).add(installed)).toBe(
      installed,
    );
    const off = claudeSetup.createRegistration({ ...options, statusLine: false }).add(installed);
    expect(off).not.toContain("--statusline");
    expect(claudeSetup.entries.findHomes(off).length).toBeGreaterThan(0);
    expect(claudeSetup.entries.remove(installed)).toBe(text);
  });

  test("are restored if another program wrote the file with other escapes", () => {
    const text = '{"statusLine":{"type":"command","command":"echo \\u00e9"}}';
    const rewritten = JSON.stringify(JSON.parse(addStatusLine(text, caller)), null, 2).replaceAll("/", "\\/");
    expect(JSON.parse(removeStatusLine(rewritten))).toEqual(JSON.parse(text));
  });

  test("of somebody else are not touched", () => {
    for (const [, text] of files) {
      expect(removeStatusLine(text)).toBe(text);
      expect(updateStatusLine(text, caller)).toBe(text);
    }
    const similar =
      '{"statusLine":{"command":"{ cd / && rm hook claude --statusline; } >/dev/null 2>&1; exit 0"}}';
    expect(findStatusLineHomes(similar)).toEqual([]);
  });

  test("with a status line that is not a command are refused", () => {
    expect(() => addStatusLine('{\n  "statusLine": "x"\n}', caller)).toThrow(
      "line 2, column 17: statusLine.command",
    );
  });

  test("survive any command, and hooks in any order", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.boolean(), (command, isFirst) => {
        const text = JSON.stringify({ statusLine: { type: "command", command }, hooks: {} });
        const hooks = [{ event: "Stop", command: "/b/beckon hook claude", timeout: 5, async: true }];
        const add = (before: string) => addStatusLine(before, caller);
        const both = isFirst ? addHooks(add(text), hooks).text : add(addHooks(text, hooks).text);
        expect(removeHooks(removeStatusLine(both)).text).toBe(text);
        expect(removeStatusLine(removeHooks(both).text)).toBe(text);
      }),
    );
  });
});
