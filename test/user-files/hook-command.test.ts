import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type CommandParts,
  createExecCommand,
  createShellCommand,
  formatAsShell,
  type HookPlatform,
  isOwnCommand,
  mentionsBeckon,
  readHookCommand,
} from "../../src/user-files/hook-command.ts";

const shellText = (parts: CommandParts, platform?: HookPlatform) =>
  createShellCommand(parts, platform).command;
const isOwn = (command: string) => isOwnCommand({ command });
const mentions = (command: string) => mentionsBeckon({ command });

const parts = { binary: "/home/ann/.local/bin/beckon", agent: "claude", home: null };
const odd = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..." '\"$`\\\n*#!~;&|-<>(){}[]é漢🙂\t\r"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
});
const path = odd.map((text) => `/${text.replaceAll("\0", "")}`);

describe("the command that is written", () => {
  test("reads well", () => {
    expect(shellText(parts)).toBe(
      "{ cd / && '/home/ann/.local/bin/beckon' hook claude; } 2>/dev/null; exit 0",
    );
    expect(shellText({ ...parts, home: "/srv/b" }, "darwin")).toBe(
      "{ cd / && BECKON_HOME='/srv/b' '/home/ann/.local/bin/beckon' hook claude; } 2>/dev/null; exit 0",
    );
  });

  test("is known again, with all that it names, whatever the path", () => {
    fc.assert(
      fc.property(path, fc.option(path), fc.boolean(), (folder, home, isDetached) => {
        const given = { binary: `${folder}/beckon`, agent: "claude", home };
        expect(readHookCommand(shellText({ ...given, isDetached }))).toEqual(given);
      }),
      { numRuns: 3000 },
    );
  });

  test("on Windows has forward slashes, and quotes only where they are needed", () => {
    const at = (binary: string, home: string | null = null) =>
      shellText({ binary, agent: "claude", home }, "win32");
    expect(at("C:\\Users\\Ann\\AppData\\Local\\beckon\\beckon.exe")).toBe(
      "C:/Users/Ann/AppData/Local/beckon/beckon.exe hook claude ; exit 0",
    );
    expect(at("C:\\Users\\José\\beckon.exe")).toBe("C:/Users/José/beckon.exe hook claude ; exit 0");
    expect(at("C:\\Users\\Ann O'Neil\\beckon.exe")).toBe(
      `"C:/Users/Ann O'Neil/beckon.exe" hook claude ; exit 0`,
    );
    expect(at("C:\\$x\\beckon.exe")).toBe("'C:/$x/beckon.exe' hook claude ; exit 0");
    expect(at("C:\\beckon.exe", "D:\\my files")).toBe(
      'BECKON_HOME="D:/my files" C:/beckon.exe hook claude ; exit 0',
    );
    fc.assert(
      fc.property(path, fc.option(path), (folder, home) => {
        const slashed = (text: string) => `C:${text.replaceAll("\\", "/")}`;
        const given = { binary: `C:${folder}\\beckon.exe`, agent: "claude", home: home && `C:${home}` };
        expect(readHookCommand(shellText(given, "win32"))).toEqual({
          ...given,
          binary: slashed(`${folder}\\beckon.exe`),
          home: home && slashed(home),
        });
      }),
      { numRuns: 3000 },
    );
  });

  test("without a shell, is recognised with everything that it names, whatever the path", () => {
    expect(createExecCommand(parts)).toEqual({
      command: "/usr/bin/env",
      args: ["/home/ann/.local/bin/beckon", "hook", "claude"],
    });
    expect(createExecCommand({ ...parts, home: "/srv/b" }, "darwin").args).toEqual([
      "BECKON_HOME=/srv/b",
      "/home/ann/.local/bin/beckon",
      "hook",
      "claude",
    ]);
    fc.assert(
      fc.property(path, fc.option(path), (folder, home) => {
        const given = { binary: `${folder}/beckon`, agent: "claude", home };
        const command = createExecCommand(given);
        expect(isOwnCommand(command)).toBe(true);
        expect(readHookCommand(formatAsShell(command))).toEqual(given);
      }),
      { numRuns: 3000 },
    );
  });

  test("on Windows, without a shell, calls the binary itself, and needs a shell for BECKON_HOME", () => {
    const binary = "C:\\Program Files\\beckon.exe";
    const command = createExecCommand({ ...parts, binary }, "win32");
    expect(command).toEqual({ command: binary, args: ["hook", "claude"] });
    expect(isOwnCommand(command)).toBe(true);
    expect(readHookCommand(formatAsShell(command))?.binary).toBe(binary);
    expect(createExecCommand({ ...parts, binary, home: "D:\\b" }, "win32").args).toBeUndefined();
  });

  test.each(["/$HOME/beckon", "/a=b/beckon"])(
    "%s goes through a shell, which takes it as it is",
    (binary) => {
      expect(createExecCommand({ ...parts, binary })).toEqual(createShellCommand({ ...parts, binary }));
    },
  );

  test.each([
    ["C:\\Users\\Ann\\beckon.exe", "linux"],
    ["beckon", "linux"],
    ["./beckon", "darwin"],
    ["beckon.exe", "win32"],
    ["/a\0b", "linux"],
  ] as const)("%j is refused on %s", (binary, platform) => {
    expect(() => shellText({ ...parts, binary }, platform)).toThrow(/not an absolute path/);
  });

  test("an agent's name that could be more than a name is refused", () => {
    expect(() => shellText({ ...parts, agent: "claude; rm -rf /" })).toThrow(/not an agent's name/);
  });
});

describe("ours", () => {
  test.each<[string, string, string?, string?]>([
    ["~/.local/bin/beckon hook claude", "~/.local/bin/beckon"],
    ['"$HOME/.local/bin/beckon" hook claude', "$HOME/.local/bin/beckon"],
    [`\${HOME}/bin/beckon hook codex`, `\${HOME}/bin/beckon`, "codex"],
    ["beckon hook", "beckon", ""],
    ["  beckon   hook   claude  ", "beckon"],
    ["beckon hook claude # tells me", "beckon"],
    ["beckon hook claude 2>/dev/null", "beckon"],
    ["beckon hook claude >/dev/null 2>&1 || true", "beckon"],
    ["exec /opt/beckon hook claude", "/opt/beckon"],
    ["/opt/beckon-linux-x64 hook claude", "/opt/beckon-linux-x64"],
    ["'/Users/ann/Downloads/beckon-darwin-arm64' hook claude", "/Users/ann/Downloads/beckon-darwin-arm64"],
    ["cd / && [ -x '/o n/beckon' ] && '/o n/beckon' hook claude; exit 0", "/o n/beckon"],
    ["command -v beckon >/dev/null && beckon hook claude; exit 0", "beckon"],
    ["BECKON_HOME=/srv/b /opt/beckon hook claude", "/opt/beckon", "claude", "/srv/b"],
    ["BECKON_PROVIDER=codex beckon hook", "beckon", "codex"],
    [
      "BECKON_URL=http://127.0.0.1:4488 BECKON_TOKEN_FILE=$HOME/.auth sh /opt/beckon-hook.sh claude",
      "/opt/beckon-hook.sh",
    ],
    ["[ -r /opt/beckon-hook.sh ] && sh /opt/beckon-hook.sh claude; exit 0", "/opt/beckon-hook.sh"],
    ["/opt/beckon-hook.sh claude", "/opt/beckon-hook.sh"],
    ["bun /home/ann/src/beckon/src/main.ts hook claude", "/home/ann/src/beckon/src/main.ts"],
    ["bun run ~/beckon-next/src/main.ts hook claude", "~/beckon-next/src/main.ts"],
    ["C:\\Users\\Ann\\beckon.exe hook claude", "C:/Users/Ann/beckon.exe"],
    ['"C:\\Program Files\\beckon\\beckon.exe" hook claude', "C:/Program Files/beckon/beckon.exe"],
    ["C:/Users/Ann/BECKON.EXE hook claude ; exit 0", "C:/Users/Ann/BECKON.EXE"],
    ["{ cd / && '/a'\\''b/beckon' hook claude; } 2>/dev/null; exit 0", "/a'b/beckon"],
  ])("%s", (command, binary, agent = "claude", home) => {
    expect(readHookCommand(command)).toEqual({ binary, agent: agent || null, home: home ?? null });
    expect(mentions(command)).toBe(false);
  });

  test.each([
    { command: "/opt/beckon", args: ["hook", "claude"] },
    { command: "/usr/bin/env", args: ["/o n/beckon", "hook", "claude"] },
    { command: "/usr/bin/env", args: ["BECKON_HOME=/srv/b", "/opt/beckon", "hook", "claude"] },
  ])("without a shell: %j", (hook) => {
    expect(isOwnCommand(hook)).toBe(true);
    expect(mentionsBeckon(hook)).toBe(false);
  });
});

describe("without a shell, looks like ours, but is not", () => {
  test.each([
    { command: "/opt/beckon", args: ["status"] },
    { command: "/opt/beckon hook claude", args: [] },
    { command: "/usr/bin/env", args: [] },
    { command: "/usr/bin/env", args: ["-i", "/opt/beckon", "hook", "claude"] },
    { command: "/usr/bin/env", args: ["/opt/beckon", "status"] },
    { command: "/bin/sh", args: ["-c", "/opt/beckon hook claude"] },
    { command: "my-wrapper", args: ["/opt/beckon", "hook", "claude"] },
  ])("%j", (hook) => {
    expect(isOwnCommand(hook)).toBe(false);
    expect(mentionsBeckon(hook)).toBe(JSON.stringify(hook).includes("beckon"));
  });
});

describe("looks like ours, but is not", () => {
  test.each([
    "echo beckon hook claude",
    'notify "beckon hook"',
    "/opt/beckon-logger hook",
    "/opt/beckon.sh hook claude",
    "/opt/beckon/run hook claude",
    "my-wrapper -- beckon hook claude",
    "timeout 5 beckon hook claude",
    "env beckon hook claude",
    "beckon hook claude | tee log",
    "beckon hook claude & ",
    "beckon hook claude &>/dev/null",
    "tee /tmp/log | beckon hook claude",
    "beckon hook claude > /tmp/out",
    "beckon hook claude 2>> ~/beckon.log",
    "beckon hook claude < /tmp/event",
    "beckon hook claude; say done",
    "beckon hook claude; beckon hook claude",
    '[ "$USER" = ann ] && beckon hook claude',
    "[ -x /opt/other ] && beckon hook claude",
    "cd /srv && beckon hook claude",
    "beckon hook claude; exit 2",
    "(beckon hook claude)",
    "$(beckon hook claude)",
    "`beckon hook claude`",
    '"$(which beckon)" hook claude',
    "if true; then beckon hook claude; fi",
    "! beckon hook claude",
    "beckon status",
    "beckon",
    "beckon --install hook",
    "beckon 'hook claude'",
    "'beckon hook claude'",
    "# beckon hook claude",
    "cat <<EOF\nbeckon hook claude\nEOF",
    "sh -c 'beckon hook claude'",
    "sh /opt/beckon-hooks.sh claude",
    "node /opt/other/src/main.ts hook claude",
    "bun /home/ann/beckon/src/other.ts hook claude",
    "BECKON_HOME=/x",
    "} beckon hook claude {",
    "{ beckon hook claude",
    "{ beckon hook claude; } x",
    "beckon hook 'claude",
    'beckon hook "claude',
    "beckon hook claude \\",
    "&& beckon hook claude",
    "beckon hook claude ;; true",
    "\0beckon hook claude",
  ])("%j", (command) => {
    expect(isOwn(command)).toBe(false);
    expect(mentions(command)).toBe(/beckon(?!_)/.test(command) && !command.startsWith("BECKON_HOME"));
  });

  test.each(["", " ", "true", "reckon hook claude", "beckoning hook claude"])(
    "%j, nor does it mention it",
    (command) => {
      expect(isOwn(command) || mentions(command)).toBe(false);
    },
  );
});

test("no text makes the reader slow or fail", () => {
  const started = performance.now();
  for (const piece of [
    "'",
    '"',
    "$",
    "${",
    "\\",
    "{ ",
    "} ",
    "(",
    "a=",
    "a=b ",
    ";",
    "\n",
    "&&",
    "2>",
    "#",
    "beckon hook ",
  ]) {
    for (const length of [1000, 60_000, 5_000_000]) {
      const text = piece.repeat(Math.ceil(length / piece.length));
      expect(typeof isOwn(text)).toBe("boolean");
      expect(typeof isOwn(`beckon hook claude ${text}`)).toBe("boolean");
      expect(typeof mentions(`beckon ${text}`)).toBe("boolean");
    }
  }
  expect(performance.now() - started).toBeLessThan(5000);
  fc.assert(fc.property(odd, fc.string(), (a, b) => typeof isOwn(`${a} beckon hook ${b}`) === "boolean"));
});
