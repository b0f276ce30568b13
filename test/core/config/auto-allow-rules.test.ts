/** Rules can only allow reading, and mistakes in them are reported. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  dropInvalidRules,
  parseAutoAllowRule,
  splitPlainCommand,
} from "../../../src/core/config/auto-allow-rules.ts";
import { parseConfig } from "../../../src/core/config/config.ts";
import { isReadOnlyCommand } from "../../../src/core/config/read-only-commands.ts";

describe("a rule in the settings", () => {
  test.each([
    "Read",
    "Grep",
    "Glob",
    "LS",
    "NotebookRead",
    "Bash(ls)",
    "Bash(ls *)",
    "Bash(ls:*)",
    "Bash(head -20 *)",
    "Bash(grep -rn *)",
    "Bash(find . -name *)",
    "Bash(cat README.md)",
  ])("%s", (rule) => {
    expect(parseAutoAllowRule(rule)).toBeObject();
  });
  test.each([
    "Edit",
    "Write",
    "Bash",
    "Bash()",
    "Bash(*)",
    "Bash(git *)",
    "Bash(git status)",
    "Bash(git diff *)",
    "Bash(git log --oneline -20)",
    "Bash(git stash list)",
    "Bash(git --no-pager log)",
    "Bash(rg *)",
    "Bash(shasum *)",
    "Bash(strings *)",
    "Bash(less *)",
    "Bash(man *)",
    "Bash(sed -n *)",
    "Bash(awk *)",
    "Bash(date *)",
    "Bash(tee *)",
    "Bash(column *)",
    "Bash(diff -l *)",
    "Bash(grep -f x *)",
    "Bash(file -m x *)",
    "Bash(sort --compress-program=x *)",
    "Bash(md5sum -c *)",
    "Bash(tail -f *)",
    "Bash(git push *)",
    "Bash('ls -l' x)",
    "Bash(git 'stash list' x)",
    "Bash(git branch -D x)",
    "Bash(git branch new)",
    "Bash(git diff --output=x *)",
    "Bash(git diff --outp=x *)",
    "Bash(git diff --ext-diff *)",
    "Bash(git -c core.pager=x log *)",
    "Bash(git grep -O *)",
    "Bash(git config --get x)",
    "Bash(rm *)",
    "Bash(rg --pre x *)",
    "Bash(find . -delete)",
    "Bash(find . -exec rm *)",
    "Bash(sort -o x *)",
    "Bash(tree -o x)",
    "Bash(env *)",
    "Bash(xargs *)",
    "Bash(sed -i *)",
    "Bash(npm test)",
    "Bash(ls; rm x)",
    "Bash(ls | cat)",
    "Bash(ls > x)",
    "Bash(cat $X)",
    "Bash(./ls *)",
    "Bash(/tmp/ls *)",
    "Bash(LC_ALL=x ls)",
    "Bash(l* x)",
    "read",
    "Read(x)",
    "WebFetch",
    "AskUserQuestion",
    "ExitPlanMode",
    "mcp__a__b",
    " Read",
    "",
  ])("%j is not a rule", (rule) => {
    expect(parseAutoAllowRule(rule)).toBeString();
  });
});

describe("answering.autoAllow", () => {
  test("keeps the valid rules and reports the others", () => {
    const autoAllow = {
      "/home/me/web": ["Read", "Bash(rm *)", "Bash(ls)", "Bash(git status)", "Edit"],
      web: ["Read"],
      "/": ["Read"],
      "/home/me/../x": ["Read"],
    };
    const { config, problems } = parseConfig({ answering: { autoAllow } });
    expect(config.answering).toEqual({
      enabled: true,
      autoAllow: { "/home/me/web": ["Read", "Bash(ls)"] },
    });
    const allowed =
      'Rules may name Read, Grep, Glob, LS, NotebookRead, and commands that only read, like "Bash(ls *)"';
    expect(problems).toEqual([
      `answering.autoAllow: "Bash(rm *)" is not a command that is known to only read. ${allowed}`,
      `answering.autoAllow: "Bash(git status)" is never allowed without asking: the settings of a repository can make git run any program. ${allowed}`,
      `answering.autoAllow: "Edit" does not only read. ${allowed}`,
      'answering.autoAllow: "web" must be the full path of a project folder',
      'answering.autoAllow: "/" is the whole disk, not a project',
      'answering.autoAllow: "/home/me/../x" must be the full path of a project folder',
    ]);
  });
  test.each([[], "Read", ["Read"], { "/a": "Read" }, { "/a": [5] }, null, 5])(
    "%j is rejected",
    (...values) => {
      const [autoAllow] = values;
      const { config, problems } = parseConfig({ answering: { autoAllow } });
      expect(config.answering.autoAllow).toEqual({});
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(
        'answering.autoAllow must be an object like {"/home/me/project": ["Read", "Bash(ls *)"]}, not',
      );
    },
  );
});

describe("for any text", () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        ..." -./*=~^:$`'\"\\;&|<>(){}[]!#\n\t\u202eab",
        "git ",
        "diff ",
        "--output",
        "Bash(",
        "ls ",
      ),
      fc.string({ maxLength: 1 }),
    ),
  });
  test("a plain command has no character that a shell interprets", () => {
    fc.assert(
      fc.property(text, (command) => {
        const words = splitPlainCommand(command);
        if (words === null) return;
        expect(words.length).toBeGreaterThan(0);
        const bare = command.replace(/'[^'\n]*'|"[^"$`\\!\n]*"/g, "Q");
        expect(bare).not.toMatch(/[$`;&|<>(){}[\]*?!#\\'"\n\r\t]/);
      }),
      { numRuns: 2_000 },
    );
  });
  test("only valid rules are kept", () => {
    fc.assert(
      fc.property(fc.array(text), (list) => {
        const kept = dropInvalidRules({ "/a": list })["/a"] ?? [];
        expect(kept).toEqual(list.filter((rule) => typeof parseAutoAllowRule(rule) !== "string"));
      }),
    );
  });
  test("an option that is not in the list is never allowed", () => {
    const option = fc.string({ unit: fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz"), minLength: 1 });
    fc.assert(
      fc.property(option, (name) => {
        expect(isReadOnlyCommand(["sort", `--output${name}`])).toBe(false);
        expect(isReadOnlyCommand(["sort", `--${"output".slice(0, (name.length % 6) + 1)}`])).toBe(false);
        expect(isReadOnlyCommand(["sort", `-o${name}`])).toBe(false);
        expect(isReadOnlyCommand(["find", ".", `-exec${name}`])).toBe(false);
        expect(isReadOnlyCommand(["git", name])).toBe(false);
      }),
    );
  });
});
