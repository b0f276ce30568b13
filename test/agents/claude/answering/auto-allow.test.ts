/** What a rule of the user's allows without asking, and what it must not allow. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { autoAllow as judge } from "../../../../src/agents/claude/answering/auto-allow.ts";
import { colour, cwd, request } from "./requests.ts";

const rules = {
  [cwd]: [
    "Bash(git status)",
    "Bash(git diff *)",
    "Bash(git log:*)",
    "Bash(git show *)",
    "Bash(git branch *)",
    "Bash(git grep *)",
    "Bash(git for-each-ref *)",
    "Bash(git tag *)",
    "Bash(git remote *)",
    "Bash(cat *)",
    "Bash(ls *)",
    "Bash(rg *)",
    "Bash(grep *)",
    "Bash(find *)",
    "Bash(sort *)",
    "Bash(tree *)",
    "Bash(file *)",
    "Bash(echo *)",
    "Bash(head *)",
    // None of these is a rule, so none of them may ever match.
    "Bash(rm *)",
    "Bash(npm test)",
    "Bash(*)",
    "Bash",
    "Edit",
    "Write",
    "WebFetch",
    "AskUserQuestion",
    "ExitPlanMode",
    "Read",
    "Grep",
    "Glob",
    "LS",
  ],
};
const autoAllow = (...given: Parameters<typeof judge>) => judge(...given)?.rule ?? null;
const allow = (tool: string, input: object, more: object = {}) =>
  autoAllow(rules, request(tool, input, more), { cwd });
const run = (command: string) => allow("Bash", { command });

describe("a request that only reads is allowed by the rule", () => {
  test.each<[string, string]>([
    ["git status", "Bash(git status)"],
    ["git diff", "Bash(git diff *)"],
    ["git diff HEAD~1 -- src/a.ts", "Bash(git diff *)"],
    ["git diff --stat main..feature", "Bash(git diff *)"],
    ["git log --oneline -20", "Bash(git log:*)"],
    ["git show HEAD^:src/a.ts", "Bash(git show *)"],
    ["git branch", "Bash(git branch *)"],
    ["git branch -a", "Bash(git branch *)"],
    ["git branch --list 'x*'", "Bash(git branch *)"],
    ["git remote -v", "Bash(git remote *)"],
    ["cat README.md src/a.ts", "Bash(cat *)"],
    ["cat /home/dev/proj/README.md", "Bash(cat *)"],
    ["ls -la src", "Bash(ls *)"],
    ["rg -n 'foo bar|baz$' src", "Bash(rg *)"],
    [`grep -rn "a b" src`, "Bash(grep *)"],
    ["find src -name '*.ts' -type f", "Bash(find *)"],
    ["head -n 5 a", "Bash(head *)"],
  ])("%s", (command, rule) => {
    expect(run(command)).toBe(rule);
  });
  test.each<[string, object, string]>([
    ["Read", { file_path: "/home/dev/proj/src/a.ts", limit: 5 }, "Read"],
    ["Grep", { pattern: "a|b", path: "/home/dev/proj/src", "-n": true }, "Grep"],
    ["Grep", { pattern: "a" }, "Grep"],
    ["Glob", { pattern: "**/*.ts" }, "Glob"],
    ["LS", { path: "/home/dev/proj" }, "LS"],
  ])("%s %j", (tool, input, rule) => {
    expect(allow(tool, input)).toBe(rule);
  });
  test("also in a folder of the project", () => {
    expect(allow("Bash", { command: "git status" }, { cwd: `${cwd}/src` })).toBe("Bash(git status)");
  });
});

describe("an attack is left to the user", () => {
  test.each([
    "git status; rm -rf /",
    "git status && rm x",
    "git status | sh",
    "git status & rm x",
    "git status\nrm x",
    "git status > x",
    "git status `rm x`",
    "git diff $(rm x)",
    "git diff $X",
    `git diff "$(rm x)"`,
    'git diff "`rm x`"',
    "git diff <(rm x)",
    "git diff \\\nx",
    "git diff {a,b}",
    "cat *",
    "cat a?",
    "cat [ab]",
    "git status\u202e",
    "git\u00a0status",
    "git diff \r",
    "git status -x",
    "git statusx",
    "xgit status",
    "GIT_EXTERNAL_DIFF=x git diff",
    "git diff --output=x",
    "git diff --output x",
    "git diff --outp=x",
    "git diff '--output=x'",
    "git diff --ext-diff",
    "git diff --textconv",
    "git diff --no-index a b",
    "git diff -O x",
    "git -c diff.external=x diff",
    "git -C /tmp diff",
    "git --git-dir=x diff",
    "git log --format=%G?",
    "git log --show-signature",
    "git for-each-ref --format=%(signature)",
    "git for-each-ref --format '%(signature)'",
    "git branch new",
    "git branch -D x",
    "git branch -m x y",
    "git branch -v new",
    "git branch --format=x new",
    "git branch -l new",
    "git tag new",
    "git tag -d x",
    "git remote add x y",
    "git remote -v update",
    "git grep -O x",
    "git grep -Oless x",
    "git grep --open-files-in-pager=x x",
    "git push",
    "rg --pre ./x a",
    "rg --pre=./x a",
    "rg -z a",
    "rg --hostname-bin x a",
    "rg -L a",
    "grep -R a .",
    "find . -exec rm {} +",
    "find . -delete",
    "find . -fprint x",
    "find . -ok rm",
    "find -L .",
    "sort -o a b",
    "sort --output=a b",
    "sort --compress-program=x b",
    "tree -o a",
    "tree -R -H x",
    "file -C -m x",
    "cat /etc/passwd",
    "cat ~/.ssh/id_rsa",
    "cat ../x",
    "cat src/../../x",
    "cat /home/dev/proj/../x",
    "cat /home/dev/project2/x",
    "cat .env",
    "cat .ENV",
    "diff -r a b",
    "cat src/.env.local",
    "cat key.pem",
    "git show HEAD:.env",
    "git show HEAD:../x",
    "grep --include=/etc/passwd a",
    "rg a /",
    "head -n 5 /etc/passwd",
    "rm x",
    "npm test",
    "echo a; b",
    "=ls",
    "ls =x",
    "",
    " ",
    `cat ${"a".repeat(2_000)}`,
  ])("%j", (command) => {
    expect(run(command)).toBeNull();
  });
  test.each<[string, object]>([
    ["Read", { file_path: "/etc/passwd" }],
    ["Read", { file_path: "/home/dev/proj/../x" }],
    ["Read", { file_path: "/home/dev/proj/.env" }],
    ["Read", { file_path: "/home/dev/proj/a\u202e" }],
    ["Read", { file_path: ["/home/dev/proj/a"] }],
    ["Read", { file_path: "~/x" }],
    ["Read", {}],
    ["Read", { file_path: "/home/dev/proj/a", run: "x" }],
    ["Grep", { pattern: "a", path: "/" }],
    ["Grep", { pattern: "a", glob: "../**" }],
    ["Grep", { pattern: "a", "--pre": "x" }],
    ["Glob", { pattern: "/etc/*" }],
    ["Glob", { pattern: "../*" }],
    ["Glob", { pattern: "{..,x}/*" }],
    ["Glob", { pattern: "*", path: "/etc" }],
    ["LS", { path: "/" }],
    ["NotebookRead", { notebook_path: "/home/dev/proj/n.ipynb" }],
    ["Write", { file_path: "/home/dev/proj/a", content: "" }],
    ["Edit", { file_path: "/home/dev/proj/a", old_string: "a", new_string: "b" }],
    ["WebFetch", { url: "https://x" }],
    ["AskUserQuestion", { questions: [colour] }],
    ["ExitPlanMode", { plan: "x" }],
    ["mcp__a__Read", { file_path: "/home/dev/proj/a" }],
    ["Bash", { command: ["git status"] }],
    ["Bash", { command: "git status", run_in_background: true }],
    ["Bash", { command: "git status", dangerouslyDisableSandbox: true }],
    ["Bash", { command: "git status", env: { PATH: "/tmp" } }],
  ])("%s %j", (tool, input) => {
    expect(allow(tool, input)).toBeNull();
  });
  test("so is a session or a command outside of the rule's folder", () => {
    const status = request("Bash", { command: "git status" });
    expect(autoAllow(rules, status, { cwd })).toBe("Bash(git status)");
    for (const folder of ["/home/dev", "/home/dev/proj2", "/", "", "proj", `${cwd}/../x`, null]) {
      expect(autoAllow(rules, status, { cwd: folder })).toBeNull();
    }
    expect(autoAllow(rules, { ...status, cwd: "/tmp" }, { cwd })).toBeNull();
  });
  test("so is everything without a rule for the project", () => {
    const status = request("Bash", { command: "git status" });
    for (const none of [
      {},
      { "/": ["Bash(git status)"] },
      { proj: ["Bash(git status)"] },
      { "/home/dev/x/../proj": ["Bash(git status)"] },
    ]) {
      expect(autoAllow(none, status, { cwd })).toBeNull();
    }
  });
});

describe("for any request", () => {
  test("nothing throws, and what is allowed is one plain command, or reads inside of the folder", () => {
    const part = fc.constantFrom(
      ...[
        "git",
        "diff",
        "status",
        "log",
        "cat",
        "ls",
        "rg",
        "find",
        "a",
        "src/a.ts",
        "/etc/x",
        "..",
        "~",
        "-n",
        "--stat",
        "--output=x",
      ],
      ...[" ", " ", " ", ";", "|", "&", "$", "`", ">", "<", "\n", "'", '"', "\\", "*", "=", "(", "!"],
    );
    const command = fc.array(part, { maxLength: 10 }).map((parts) => parts.join(""));
    const spaced = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(" "));
    const input = fc.oneof(
      fc.record({ command: fc.oneof(command, spaced) }),
      fc.record({ file_path: fc.oneof(command, fc.constant(`${cwd}/a`)) }),
      fc.anything(),
    );
    const tool = fc.oneof(fc.constantFrom("Bash", "Read", "Grep", "Glob"), fc.anything());
    fc.assert(
      fc.property(tool, input, (name, given) => {
        const rule = autoAllow(rules, request(name, given), { cwd });
        if (rule === null) return;
        expect(rules[cwd]).toContain(rule);
        if (name === "Bash") {
          expect(Object(given).command).not.toMatch(
            /[;|&$`<>\n\\*()!]|--output|\/etc|~|(?:^|[ /])\.\.(?: |\/|$)/,
          );
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
