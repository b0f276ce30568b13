/** What a rule allows, and everything near it that still asks. The command lines are data: none of them is run. */
import { describe, expect, test } from "bun:test";
import { findFit } from "../../src/rules/fit.ts";
import { isMarked } from "../../src/rules/past.ts";
import { formatAllowed, nameRule, parseAllowed, type ReadRule, readRule } from "../../src/rules/rule.ts";
import attacks from "../fixtures/rule-attacks.json";

const project = "/home/me/shop-web";

function createRule(text: string): ReadRule {
  const rule = readRule({ name: "r", agent: "claude", project, text, madeAt: 0, madeFrom: "text" });
  if (typeof rule === "string") throw new Error(rule);
  return rule;
}

interface Line {
  readonly rule: string;
  readonly command: string;
  readonly why: string;
  readonly cwd?: string;
}

const isAllowed = ({ rule, command, cwd = project }: Line): boolean => {
  const subject = { kind: "command", command, cwd } as const;
  const fit = findFit([createRule(rule)], subject, project);
  return typeof fit !== "string" && !isMarked(subject, project, []);
};

describe("a rule for a command", () => {
  for (const line of attacks.asks)
    test(`${line.rule} asks about ${JSON.stringify(line.command.slice(0, 60))}: ${line.why}`, () => {
      expect(isAllowed(line)).toBe(false);
    });
  for (const line of attacks.allows)
    test(`${line.rule} allows ${JSON.stringify(line.command)}: ${line.why}`, () => {
      expect(isAllowed(line)).toBe(true);
    });

  test("several rules allow a line together, and one of them alone does not", () => {
    const subject = { kind: "command", command: "npm test && git status", cwd: project } as const;
    const rules = [createRule("Bash(npm test)"), createRule("Bash(git status)")];
    expect(findFit(rules, subject, project)).toMatchObject({ rules });
    expect(findFit(rules.slice(0, 1), subject, project)).toBe("no rule");
  });

  test("a long path is checked for links like a short one", () => {
    const command = `npm test out/${"./".repeat(600)}x`;
    const fit = findFit(
      [createRule("Bash(npm test *)")],
      { kind: "command", command, cwd: project },
      project,
    );
    expect(fit).toMatchObject({ paths: expect.arrayContaining([`${project}/out/x`]) });
  });
});

describe("a rule for edits", () => {
  const rule = createRule("Edit(src/cart/**)");
  const fits = (...paths: string[]) => findFit([rule], { kind: "edit", paths, cwd: project }, project);

  test.each([["src/cart/index.ts"], [`${project}/src/cart/deep/x.ts`], ["./src/cart/a b.ts"]])(
    "allows %s",
    (path) => {
      expect(fits(path)).toMatchObject({ rules: [rule] });
    },
  );

  test.each([
    ["src/cart.ts"],
    ["src/cart-2/x.ts"],
    ["src/cart/../x.ts"],
    ["src/cart/../../../etc/passwd"],
    ["/home/me/shop-web-2/src/cart/x.ts"],
    ["src/cart/.env"],
    ["src/cart/.git/hooks/x"],
    ["~/src/cart/x.ts"],
    [" src/cart/x.ts"],
    ["src/cart/\u202ex.ts"],
    ["package.json"],
  ])("asks about %j", (path) => {
    expect(typeof fits(path)).toBe("string");
  });

  test("asks if one of several files is elsewhere", () => {
    expect(typeof fits("src/cart/x.ts", "package.json")).toBe("string");
  });
});

describe("the text of a rule", () => {
  test.each([
    ["Bash(npm test)"],
    ["Bash(npm run test:e2e [--project=checkout] [--reporter dot] *)"],
    ["Bash(git commit [-a] *)"],
    ["Bash(make 'a b')"],
    ["Edit(docs/guide/**)"],
  ])("%s is read as it is written", (text) => {
    const allowed = parseAllowed(text);
    expect(typeof allowed).toBe("object");
    expect(typeof allowed === "string" ? allowed : formatAllowed(allowed)).toBe(text);
  });

  test.each([
    ["Bash(docker run *)", "another program"],
    ["Bash(npm *)", "another program"],
    ["Bash(npm run deploy *)", "another program"],
    ["Bash(sudo npm test)", "runs another program"],
    ["Bash(npm test | sh)", "runs another program"],
    ["Bash(npm test && npm run build)", "one command"],
    ["Bash(npm test > x)", "file"],
    ["Bash(npm test $X)", "filled in"],
    ["Bash(cd src)", "where the next command runs"],
    ["Bash()", "more than commands"],
    ["Bash(npm test [src])", "brackets"],
    ["Edit(**)", "folder"],
    ["Edit(/etc/**)", "folder"],
    ["Edit(../x/**)", "folder"],
    ["Edit(.github/**)", "dot"],
    ["Edit(src)", "folder"],
    ["Read", "answering.autoAllow"],
    ["WebFetch", "not a rule"],
    [`Bash(npm test ${"x".repeat(2_000)})`, "too long"],
  ])("%s is refused: %s", (text, why) => {
    expect(String(parseAllowed(text))).toContain(why);
  });

  test("names are short, and differ", () => {
    const allowed = parseAllowed("Bash(npm run test [--x] *)");
    if (typeof allowed === "string") throw new Error(allowed);
    expect(nameRule(allowed, project, new Set())).toBe("npm-run-test-shop-web");
    expect(nameRule(allowed, project, new Set(["npm-run-test-shop-web"]))).toBe("npm-run-test-shop-web-2");
  });
});
