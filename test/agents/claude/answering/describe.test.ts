/** What the user sees before they allow a request. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { describeRequest } from "../../../../src/agents/claude/answering/describe.ts";
import type { AskDetails } from "../../../../src/core/session/ask-details.ts";
import { maxColumns, maxRows } from "../../../../src/core/text/fit.ts";
import { colour, cwd, extras, recordedRequests, request } from "./requests.ts";

const modeAfterPlan =
  "⟨mode afterwards⟩ the one from before the plan. To go on in auto mode, approve it in the terminal";

function ask(tool: string, input: object, more: object = {}): AskDetails {
  const asked = describeRequest(request(tool, input, more), { cwd });
  if (!asked) throw new Error("nothing was asked");
  return asked;
}
const path = (name: string) => `${cwd}/${name}`;

describe("the exact text of what would run", () => {
  test.each<[string, object, string, string[]]>([
    ["Bash", { command: "npm test", description: "harmless, believe me" }, "Run a command", ["npm test"]],
    ["Bash", { command: "cd a\n\tls \\\n  -la" }, "Run a command", ["cd a", "\tls \\", "  -la"]],
    ["Bash", { command: "ls", run_in_background: true }, "Run a command in the background", ["ls"]],
    [
      "Bash",
      { command: "ls", dangerouslyDisableSandbox: true },
      "Run a command outside of the sandbox",
      ["ls"],
    ],
    ["Bash", { command: "ls", shell: "zsh" }, "Run a command", ["ls", '⟨shell⟩ "zsh"']],
    ["Bash", { command: "ls", timeout: 120_000 }, "Run a command for at most 120 s", ["ls"]],
    ["Bash", { command: "ls", timeout: "1h" }, "Run a command", ["ls", '⟨timeout⟩ "1h"']],
    [
      "Edit",
      { file_path: path("src/app.ts"), old_string: "a\nb\nc", new_string: "a\nB\nc" },
      "Edit src/app.ts",
      ["  a", "- b", "+ B", "  c"],
    ],
    [
      "Edit",
      { file_path: "/etc/hosts", old_string: "", new_string: "x\n", replace_all: true },
      "Edit /etc/hosts",
      ["⟨everywhere in the file⟩", "+ x"],
    ],
    [
      "MultiEdit",
      {
        file_path: path("a"),
        edits: [
          { old_string: "a", new_string: "b" },
          { old_string: "c", new_string: "" },
        ],
      },
      "Edit a",
      ["⟨change 1 of 2⟩", "- a", "+ b", "⟨change 2 of 2⟩", "- c"],
    ],
    ["Write", { file_path: path("a.md"), content: "# A\n\nb" }, "Write a.md", ["+ # A", "+", "+ b"]],
    ["Write", { file_path: path("a.md"), content: "fake content\n" }, "Write a.md", ["+ fake content"]],
    ["Write", { file_path: path("a.md"), content: "\n" }, "Write a.md", ["+"]],
    ["Write", { file_path: path("a.md"), content: "a\n\n" }, "Write a.md", ["+ a", "+"]],
    ["Edit", { file_path: path("a"), old_string: "a\n", new_string: "b\n" }, "Edit a", ["- a", "+ b"]],
    ["Edit", { file_path: path("a"), old_string: "\n", new_string: "" }, "Edit a", ["-"]],
    ["Edit", { file_path: path("a"), old_string: "a\n", new_string: "a" }, "Edit a", ["  a", "-"]],
    ["Write", { file_path: path("../x/a.md"), content: "" }, `Write ${path("../x/a.md")}`, []],
    ["Write", { file_path: path("a\u202etxt"), content: "" }, "Write a⟨U+202E⟩txt", []],
    [
      "NotebookEdit",
      { notebook_path: path("n.ipynb"), cell_id: "c1", new_source: "x", edit_mode: "replace" },
      "Edit a cell of n.ipynb",
      ['⟨cell_id⟩ "c1"', '⟨edit_mode⟩ "replace"', "+ x"],
    ],
    ["Read", { file_path: "/etc/hosts", limit: 5 }, "Read /etc/hosts", ["⟨limit⟩ 5"]],
    [
      "Grep",
      { pattern: "a", path: "src" },
      "Search in files",
      ["{", '  "pattern": "a",', '  "path": "src"', "}"],
    ],
    [
      "WebFetch",
      { url: "https://example.com/a", prompt: "sum up" },
      "Fetch a page",
      ["https://example.com/a", '⟨prompt⟩ "sum up"'],
    ],
    [
      "WebFetch",
      { url: "https://google.com@evil.example/" },
      "Fetch a page",
      ["https://google.com@evil.example/", "⟨leads to⟩ evil.example"],
    ],
    [
      "WebFetch",
      { url: "https://аpple.com/" },
      "Fetch a page",
      ["https://⟨U+0430⟩pple.com/", "⟨leads to⟩ xn--pple-43d.com"],
    ],
    [
      "WebFetch",
      { url: "https://xn--pple-43d.com/" },
      "Fetch a page",
      ["https://xn--pple-43d.com/", "⟨leads to⟩ xn--pple-43d.com"],
    ],
    ["WebFetch", { url: "http://0x7f.1/" }, "Fetch a page", ["http://0x7f.1/", "⟨leads to⟩ 127.0.0.1"]],
    ["WebSearch", { query: "bun 1.4" }, "Search the web", ["bun 1.4"]],
    [
      "mcp__github__create_issue",
      { title: "A\nB" },
      "Use create_issue (github)",
      ["{", '  "title": "A\\nB"', "}"],
    ],
    [
      "ExitPlanMode",
      { plan: "# Plan\n1. a", planFilePath: "/x.md" },
      "Approve a plan",
      ["# Plan", "1. a", modeAfterPlan],
    ],
    [
      "ExitPlanMode",
      { plan: "a", allowedPrompts: [{ tool: "Bash", prompt: "run tests" }] },
      "Approve a plan",
      ['⟨allowedPrompts⟩ [{"tool":"Bash","prompt":"run tests"}]', "a", modeAfterPlan],
    ],
    [
      "AskUserQuestion",
      { questions: [colour] },
      "Answer a question",
      ["Which colour?", "  1. Red: the red one", "  2. Blue: the blue one"],
    ],
    ["Frobnicate", { x: 1 }, "Use Frobnicate", ["{", '  "x": 1', "}"]],
  ])("%s %j", (tool, input, heading, lines) => {
    expect(ask(tool, input)).toMatchObject({ heading, lines, isWhole: true, tool });
  });

  test("of a real request, with what the CLI offers to allow for good", async () => {
    const all = recordedRequests.map((payload) => describeRequest(payload, { cwd }));
    expect(all.map((asked) => [asked?.kind, asked?.heading, asked?.isWhole, asked?.always])).toEqual([
      ["question", "Answer a question", true, []],
      [
        "permission",
        "Run a command",
        true,
        ["Let it work in /home/dev/proj too, in this session", "Allow all edits in this session"],
      ],
      [
        "permission",
        "Run a command",
        true,
        ["Let it work in /home/dev/proj too, in this session", "Allow all edits in this session"],
      ],
      ["plan", "Approve a plan", false, []],
      ["permission", "Write w.txt", true, ["Allow all edits in this session"]],
    ]);
  });

  test("questions have their options, with invisible characters made visible", () => {
    const odd = { ...colour, question: "Which\u202e?", options: [{ label: "A\nB", description: "" }] };
    expect(ask("AskUserQuestion", { questions: [odd, extras] })).toMatchObject({
      kind: "question",
      heading: "Answer 2 questions",
      questions: [
        {
          header: "Colour",
          question: "Which⟨U+202E⟩?",
          options: [{ label: "A⟨U+000A⟩B", description: "" }],
          isMultiple: false,
        },
        { header: "Extras", question: "Which extras?", isMultiple: true },
      ],
    });
  });

  test("dangers are listed", () => {
    expect(ask("Bash", { command: "sudo rm -rf /" }).dangers).toEqual([
      "deletes without asking (rm -rf)",
      "runs as root (sudo)",
      "deletes outside the project (/)",
    ]);
  });
});

test("a switch that is neither on nor off, and a long name, are shown as they are", () => {
  const name = "x".repeat(100);
  const input = { command: "ls", dangerouslyDisableSandbox: "true", [name]: 1 };
  const asked = describeRequest(request("Bash", input), { cwd });
  expect(asked?.heading).toBe("Run a command");
  expect(asked?.lines).toEqual(["ls", '⟨dangerouslyDisableSandbox⟩ "true"', `⟨and⟩ "${name}": 1`]);
});

test("a change with unknown fields is shown as JSON", () => {
  const edit = { old_string: "a", new_string: "b" };
  for (const [tool, input] of [
    ["Edit", { file_path: path("a"), ...edit, replace_all: "true" }],
    ["MultiEdit", { file_path: path("a"), edits: [{ ...edit, mode: "x" }] }],
  ] as const) {
    const asked = describeRequest(request(tool, input), { cwd });
    expect(asked?.lines.join("\n")).toBe(JSON.stringify(input, null, 2));
  }
});

describe("a request that cannot be shown in full is marked as such", () => {
  test.each<[string, object, string]>([
    ["Bash", { command: `${"echo\n".repeat(60)}rm x` }, "… 22 more lines"],
    ["Write", { file_path: path("a"), content: "x\n".repeat(100) }, "… 61 more lines"],
    ["ExitPlanMode", { plan: "step\n".repeat(99) }, "… 62 more lines"],
    ["ExitPlanMode", {}, "⟨the plan is in the terminal only⟩"],
    ["Bash", { command: "x".repeat(20_000) }, "… 12276 more characters"],
  ])("%s", (tool, input, last) => {
    const { isWhole, lines } = ask(tool, input);
    expect(isWhole).toBe(false);
    expect(lines.at(-1)).toBe(last);
  });
  test("a path that is too long for the heading is in the lines", () => {
    const long = `/x/${"a".repeat(150)}`;
    expect(ask("Write", { file_path: long, content: "b" })).toMatchObject({
      heading: "Write a file",
      lines: [`⟨file⟩ ${long}`, "+ b"],
    });
  });
  test("an input that is not an object, or is nested too deep", () => {
    let deep: unknown = 1;
    for (let n = 0; n < 200_000; n++) deep = [deep];
    expect(ask("mcp__a__b", { deep }).isWhole).toBe(false);
    expect(ask("Bash", { command: "ls", deep }).isWhole).toBe(false);
    expect(describeRequest(request("Bash", undefined), { cwd })?.isWhole).toBe(false);
    expect(describeRequest(request("Bash", "ls"), { cwd })?.isWhole).toBe(false);
  });
  test("questions in an unknown form", () => {
    for (const questions of [
      [],
      [{}],
      [colour, colour],
      [{ ...colour, options: "x" }],
      Array(13).fill(colour),
    ]) {
      expect(ask("AskUserQuestion", { questions })).toMatchObject({ isWhole: false, questions: [] });
    }
  });
});

test("other events, and values that are not events, are not requests", () => {
  const other = { ...request("Bash", { command: "ls" }), hook_event_name: "PreToolUse" };
  for (const payload of [null, 5, "x", [], {}, other, request("", {}), request(5, {})]) {
    expect(describeRequest(payload, { cwd })).toBeNull();
  }
});

describe("for any request", () => {
  const tools = fc.constantFrom(
    ..."Bash Edit MultiEdit Write NotebookEdit Read Glob Grep WebFetch WebSearch AskUserQuestion ExitPlanMode mcp__a__b __proto__ constructor X".split(
      " ",
    ),
  );
  const names = fc.constantFrom(
    ..."command file_path notebook_path old_string new_string content edits new_source url query plan questions pattern toString".split(
      " ",
    ),
  );
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(..." \n\t⟨⤷\u202e\ud800x"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    ),
  });

  test("nothing throws, at most 40 rows of 200 columns, nothing that hides", () => {
    const input = fc.oneof(fc.anything(), fc.dictionary(names, fc.oneof(text, fc.anything())));
    const more = fc.record(
      { permission_suggestions: fc.anything(), cwd: fc.anything() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.oneof(tools, fc.anything()),
        input,
        more,
        fc.option(text),
        (tool, given, rest, folder) => {
          const asked = describeRequest(request(tool, given, rest), { cwd: folder });
          if (!asked) return;
          expect(asked.lines.length).toBeLessThanOrEqual(maxRows);
          for (const line of [asked.heading, ...asked.lines, ...asked.dangers, ...asked.always]) {
            expect(Bun.stringWidth(line)).toBeLessThanOrEqual(maxColumns + 30);
            expect(line.replace(/^(?:[-+ ] )?\t{0,11}/, "")).not.toMatch(
              /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200b]/u,
            );
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("two commands that are shown in full never look the same", () => {
    const command = fc.string({
      unit: fc.constantFrom(
        ..." \n\t⟨⟩⤷U+0202E…\u202e\u0301\u200d\u00a0x",
        "⟨U+202E⟩",
        "⤷ ",
        " ".repeat(41),
        "x".repeat(101),
        "… 2 more lines",
      ),
      maxLength: 12,
    });
    fc.assert(
      fc.property(command, command, (one, two) => {
        fc.pre(one !== two);
        const [a, b] = [ask("Bash", { command: one }), ask("Bash", { command: two })];
        if (a.isWhole && b.isWhole) expect(a.lines).not.toEqual(b.lines);
      }),
      { numRuns: 3_000 },
    );
  });

  test("two changes of a file that are shown in full never look the same, but for a final line break", () => {
    const part = fc.string({
      unit: fc.constantFrom("a", "\n", "- ", "+ ", " ", "⟨everywhere in the file⟩"),
      maxLength: 6,
    });
    const change = fc.record({ old_string: part, new_string: part, replace_all: fc.boolean() });
    /** A final line break is not shown if both texts have one, or are empty. */
    const withoutFinalBreaks = ({
      old_string,
      new_string,
      replace_all,
    }: {
      old_string: string;
      new_string: string;
      replace_all: boolean;
    }) => {
      const texts = [old_string, new_string];
      const areWholeLines = texts.every((text) => text === "" || text.endsWith("\n"));
      return [areWholeLines ? texts.map((text) => text.replace(/\n$/, "")) : texts, replace_all];
    };
    fc.assert(
      fc.property(change, change, (one, two) => {
        fc.pre(JSON.stringify(withoutFinalBreaks(one)) !== JSON.stringify(withoutFinalBreaks(two)));
        const shown = (edit: object) => ask("Edit", { file_path: path("a"), ...edit }).lines;
        expect(shown(one)).not.toEqual(shown(two));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the folder that an earlier command has changed to", () => {
  const elsewhere = { cwd: path("node_modules/evil") };

  test("is shown with a command", () => {
    expect(ask("Bash", { command: "make test" }, elsewhere).lines).toEqual([
      "make test",
      "⟨in⟩ node_modules/evil",
    ]);
    expect(ask("Bash", { command: "make test" }, { cwd: "/srv" }).lines).toEqual(["make test", "⟨in⟩ /srv"]);
    expect(ask("Bash", { command: "make test" }, { cwd }).lines).toEqual(["make test"]);
  });

  test("is where a file's relative path starts", () => {
    const write = { file_path: "Makefile", content: "" };
    expect(ask("Write", write, elsewhere).heading).toBe("Write node_modules/evil/Makefile");
    expect(ask("Write", { ...write, file_path: "../a" }, elsewhere).heading).toBe(
      `Write ${path("node_modules/evil")}/../a`,
    );
  });
});

describe("a link", () => {
  const follow = (file: string): string | null => {
    if (file.includes("/loop")) return null;
    if (file === path("notes.md")) return "/home/dev/.bashrc";
    return file.replace(path("docs"), path("src")).replace("/srv/data", "/mnt/data");
  };
  const links = { home: "/home/dev", follow };
  const show = (tool: string, input: object, more: object = {}) =>
    describeRequest(request(tool, input, more), { cwd, links });

  test.each([
    ["Write", "file_path", { content: "alias ls=rm" }, "changes the settings of your account"],
    ["Edit", "file_path", { old_string: "", new_string: "x" }, "changes the settings of your account"],
    [
      "MultiEdit",
      "file_path",
      { edits: [{ old_string: "", new_string: "x" }] },
      "writes outside the project",
    ],
    ["NotebookEdit", "notebook_path", { new_source: "x" }, "writes outside the project"],
    ["Read", "file_path", {}, "reads outside the project"],
    ["NotebookRead", "notebook_path", {}, "reads outside the project"],
    ["Grep", "path", { pattern: "KEY" }, "reads outside the project"],
    ["Glob", "path", { pattern: "*" }, "reads outside the project"],
  ])(
    "that %s would follow is shown with where it leads, and that is checked",
    (tool, field, input, danger) => {
      const shown = show(tool, { [field]: path("notes.md"), ...input });
      if (field !== "path") expect(shown?.heading).toEndWith(" notes.md");
      expect(shown?.lines[0]).toBe("⟨a link to⟩ ~/.bashrc");
      expect(shown?.dangers.join()).toContain(danger);
      expect(show(tool, { [field]: path("other.md"), ...input })?.dangers).toEqual([]);
    },
  );

  test("of a folder counts too, and so does a path that starts from the shell's folder", () => {
    const inside = show("Write", { file_path: path("docs/a.md"), content: "" });
    expect([inside?.lines, inside?.dangers]).toEqual([["⟨a link to⟩ src/a.md"], []]);
    const relative = show("Write", { file_path: " a.md ", content: "" }, { cwd: path("docs") });
    expect(relative?.lines).toEqual(["⟨a link to⟩ src/a.md"]);
    expect(show("Read", { file_path: "/srv/data/a" })?.lines).toEqual(["⟨a link to⟩ /mnt/data/a"]);
  });

  test("that cannot be followed, or leads to two places, is left to the terminal", () => {
    const unreadable = show("Write", { file_path: path("loop/a"), content: "" });
    expect(unreadable).toMatchObject({
      isWhole: false,
      lines: ["⟨beckon cannot tell where this path leads⟩"],
    });
    const twoWays = { ...links, follow: (file: string) => (file.includes("..") ? "/etc/passwd" : file) };
    const write = request("Write", { file_path: path("docs/../a"), content: "" });
    expect(describeRequest(write, { cwd, links: twoWays })?.isWhole).toBe(false);
  });

  test("above the project or the home folder is not one of the request's", () => {
    const moved = { home: "/home/dev", follow: (file: string) => file.replace("/home", "/mnt/home") };
    const show = (file_path: string) =>
      describeRequest(request("Write", { file_path, content: "" }), { cwd: "/home/dev/p", links: moved });
    expect(show("/home/dev/p/a.md")).toMatchObject({ lines: [], dangers: [] });
    expect(show("/home/dev/b.md")?.lines).toEqual([]);
    expect(show("~/b.md")?.lines).toEqual([]);
  });
});
