/** What a rule of the user's allows without asking, and what it must not allow. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { autoAllow as judge } from "../../../../src/agents/claude/answering/auto-allow.ts";
import { colour, cwd, request } from "./requests.ts";

const rules = {
  [cwd]: [
    "Bash(pwd)",
    "Bash(wc:*)",
    "Bash(diff *)",
    "Bash(stat *)",
    "Bash(cat *)",
    "Bash(ls *)",
    "Bash(grep *)",
    "Bash(find *)",
    "Bash(sort *)",
    "Bash(tree *)",
    "Bash(file *)",
    "Bash(echo *)",
    "Bash(head *)",
    "Bash(tail *)",
    "Bash(cut *)",
    "Bash(du *)",
    "Bash(hexdump *)",
    "Bash(md5sum *)",
    "Bash(od *)",
    // None of these is a rule, so none of them may ever match.
    "Bash(git status)",
    "Bash(git diff *)",
    "Bash(git log:*)",
    "Bash(git show *)",
    "Bash(git branch *)",
    "Bash(git grep *)",
    "Bash(git *)",
    "Bash(rg *)",
    "Bash(shasum *)",
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
    "NotebookRead",
  ],
};
const autoAllow = (...given: Parameters<typeof judge>) => judge(...given)?.rule ?? null;
const allow = (tool: string, input: object, more: object = {}) =>
  autoAllow(rules, request(tool, input, more), { cwd });
const run = (command: string) => allow("Bash", { command });

describe("a request that only reads is allowed by the rule", () => {
  test.each<[string, string]>([
    ["pwd", "Bash(pwd)"],
    ["wc -l src/a.ts", "Bash(wc:*)"],
    ["diff -u a.ts b.ts", "Bash(diff *)"],
    ["cat README.md src/a.ts", "Bash(cat *)"],
    ["cat /home/dev/proj/README.md", "Bash(cat *)"],
    ["ls -la src", "Bash(ls *)"],
    ["grep -rn 'foo bar|baz$' src", "Bash(grep *)"],
    [`grep -rn "a b" src`, "Bash(grep *)"],
    ["find src -name '*.ts' -type f", "Bash(find *)"],
    ["head -n 5 a", "Bash(head *)"],
    ["grep -n -- foo src/a.ts", "Bash(grep *)"],
    ["cut -d - -f 1 a", "Bash(cut *)"],
    ["grep -n '^a~#b' src/a.ts", "Bash(grep *)"],
    [`grep -n " foo" src/a.ts`, "Bash(grep *)"],
  ])("%s", (command, rule) => {
    expect(run(command)).toBe(rule);
  });
  test.each<[string, object, string]>([
    ["Read", { file_path: "/home/dev/proj/src/a.ts", limit: 5 }, "Read"],
    ["Grep", { pattern: "a|b", path: "/home/dev/proj/src", "-n": true }, "Grep"],
    ["Grep", { pattern: "a" }, "Grep"],
    ["Glob", { pattern: "**/*.ts" }, "Glob"],
    ["LS", { path: "/home/dev/proj" }, "LS"],
    ["NotebookRead", { notebook_path: "/home/dev/proj/n.ipynb" }, "NotebookRead"],
    ["Read", { file_path: "/home/dev/proj/é" }, "Read"],
  ])("%s %j", (tool, input, rule) => {
    expect(allow(tool, input)).toBe(rule);
  });
  test("also in a folder of the project", () => {
    expect(allow("Bash", { command: "ls" }, { cwd: `${cwd}/src` })).toBe("Bash(ls *)");
  });
});

describe("an attack is left to the user", () => {
  test.each([
    "pwd; rm -rf /",
    "pwd && rm x",
    "pwd | sh",
    "pwd & rm x",
    "pwd\nrm x",
    "pwd > x",
    "pwd `rm x`",
    "ls $(rm x)",
    "ls $X",
    `ls "$(rm x)"`,
    'ls "`rm x`"',
    "ls <(rm x)",
    "ls \\\nx",
    "ls {a,b}",
    "cat *",
    "cat a?",
    "cat [ab]",
    "pwd\u202e",
    "ls\u00a0src",
    "ls \r",
    "pwd -x",
    "pwdx",
    "xpwd",
    "LC_ALL=x ls",
    "RIPGREP_CONFIG_PATH=x rg a",
    // A repository's config can name programs: fsmonitor, external diffs, filters, signatures. It can also be a bare one.
    "git status",
    "git diff",
    "git diff --no-ext-diff --no-textconv",
    "git log --oneline -20",
    "git show HEAD",
    "git branch",
    "git grep a",
    "git rev-parse HEAD",
    "git ls-files",
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
    "rg a",
    "rg --no-config a",
    "shasum a",
    "grep -f x a",
    "diff -l a b",
    "ls --color=auto --dired=x",
    "rg --hostname-bin x a",
    "rg -L a",
    "grep -R a .",
    "find . -exec rm {} +",
    "find . -delete",
    "find . -fprint x",
    "find . -ok rm",
    "find -L .",
    "sort -o a b",
    // An option can take `--` as its value; then the options after it still count.
    "tree -i -f -P -- -o build.sh .",
    "tree -I -- -l",
    "grep -e -- -R -e '' sub",
    "grep --include -- -R a sub",
    "grep -A -- --dereference-rec a .",
    "grep a -- -R .",
    "sort -t -- -o a b",
    "sort --key -- -o a b",
    "tail -n -- -F a",
    "tail -c -- --follow=name a",
    "tail +5f a",
    "sort +1 -2 a",
    "du -d -- -L .",
    "ls --sort -- -L",
    "cut -d -- --files0-from=x",
    "hexdump -n -- -f x",
    "md5sum -- -c x",
    "od -t -- --traditional x",
    "grep --dereference-rec a .",
    "grep --direct=recurse a .",
    "grep -nR a .",
    "grep -n5R a .",
    "sort --outp=a b",
    "tail -5f a",
    "find . -name -delete",
    // Patterns of zsh.
    "cat ^x",
    "cat a~b",
    "cat a#",
    "cat x:~root/y",
    "cat a=~/y",
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
    // Claude Code removes blanks around a path and normalizes its letters.
    ["Read", { file_path: " /etc/hosts" }],
    ["Read", { file_path: "  ~/notes" }],
    ["Read", { file_path: "\t/etc/hosts" }],
    ["Read", { file_path: "\u00a0/etc/hosts" }],
    ["Read", { file_path: "\ufeff/etc/hosts" }],
    ["Read", { file_path: "\n/etc/hosts" }],
    ["Read", { file_path: "\0/etc/hosts" }],
    ["Read", { file_path: "/home/dev/proj/a " }],
    ["Read", { file_path: "/home/dev/proj/e\u0301" }],
    ["Grep", { pattern: "a", path: " /home/dev/outside" }],
    ["Grep", { pattern: "a", path: " ~/outside" }],
    ["Grep", { pattern: "a", glob: " /etc/*" }],
    ["Glob", { pattern: "*", path: " /home/dev/outside" }],
    ["Glob", { pattern: " /etc/*" }],
    ["LS", { path: " /etc" }],
    ["LS", { path: "\t~" }],
    ["Read", { file_path: "/home/dev/proj/a", run: "x" }],
    ["Grep", { pattern: "a", path: "/" }],
    ["Grep", { pattern: "a", glob: "../**" }],
    ["Grep", { pattern: "a", "--pre": "x" }],
    ["Grep", { pattern: "a", type: "--pre=x" }],
    ["Grep", { pattern: "a", "-A": "--follow" }],
    ["Glob", { pattern: "/etc/*" }],
    ["Glob", { pattern: "../*" }],
    ["Glob", { pattern: "{..,x}/*" }],
    ["Glob", { pattern: "*", path: "/etc" }],
    ["LS", { path: "/" }],
    ["NotebookRead", { notebook_path: " /etc/n.ipynb" }],
    ["Write", { file_path: "/home/dev/proj/a", content: "" }],
    ["Edit", { file_path: "/home/dev/proj/a", old_string: "a", new_string: "b" }],
    ["WebFetch", { url: "https://x" }],
    ["AskUserQuestion", { questions: [colour] }],
    ["ExitPlanMode", { plan: "x" }],
    ["mcp__a__Read", { file_path: "/home/dev/proj/a" }],
    ["Bash", { command: ["ls"] }],
    ["Bash", { command: "ls", run_in_background: true }],
    ["Bash", { command: "ls", dangerouslyDisableSandbox: true }],
    ["Bash", { command: "ls", env: { PATH: "/tmp" } }],
  ])("%s %j", (tool, input) => {
    expect(allow(tool, input)).toBeNull();
  });
  test("so is a session or a command outside of the rule's folder", () => {
    const listing = request("Bash", { command: "ls" });
    expect(autoAllow(rules, listing, { cwd })).toBe("Bash(ls *)");
    for (const folder of ["/home/dev", "/home/dev/proj2", "/", "", "proj", `${cwd}/../x`, null]) {
      expect(autoAllow(rules, listing, { cwd: folder })).toBeNull();
    }
    expect(autoAllow(rules, { ...listing, cwd: "/tmp" }, { cwd })).toBeNull();
  });
  test("so is everything without a rule for the project", () => {
    const listing = request("Bash", { command: "ls" });
    for (const none of [
      {},
      { "/": ["Bash(ls *)"] },
      { proj: ["Bash(ls *)"] },
      { "/home/dev/x/../proj": ["Bash(ls *)"] },
    ]) {
      expect(autoAllow(none, listing, { cwd })).toBeNull();
    }
  });
});

test.each<[string, string[]]>([
  ["diff -u src lib", ["src", "lib"]],
  ["diff -U 3 a.ts src", ["3", "a.ts", "src"]],
  ["grep -n a src", []],
  ["grep -rn a src", ["a", "src"]],
  ["grep -r -n a src lib", ["a", "src", "lib"]],
  ["grep --recursive a src", [".", "a", "src"]],
  ["grep -r a", [".", "a"]],
  ["grep -r -e a", [".", "a"]],
  ["grep -r -A 3 a", [".", "3", "a"]],
  ["grep -r --include src a", [".", "src", "a"]],
  ["cat src", []],
])("%s is allowed only if no link in its folders leaves the project", (command, expected) => {
  const folders = expected.map((name) => (name === "." ? cwd : `${cwd}/${name}`));
  expect(judge(rules, request("Bash", { command }), { cwd })?.readThroughLinks).toEqual(folders);
});

describe("for any request", () => {
  test("nothing throws, and what is allowed is one plain command, or reads inside of the folder", () => {
    const part = fc.constantFrom(
      ...[
        "git",
        "status",
        "diff",
        "pwd",
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
            /^ *(?:git|rg)\b|[;|&$`<>\n\\*()!]|--output|\/etc|~|(?:^|[ /])\.\.(?: |\/|$)/,
          );
        }
      }),
      { numRuns: 5_000 },
    );
  });
});
