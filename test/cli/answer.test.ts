import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readAnswerWords } from "../../src/cli/answer-words.ts";
import type { Asked } from "../../src/core/asked.ts";
import { createHeldWorld, decisionOf, type HeldWorld, request } from "../held-world.ts";

const base: Asked = {
  kind: "permission",
  tool: "Bash",
  heading: "Run a command",
  lines: ["npm test"],
  isWhole: true,
  dangers: [],
  always: ["Always allow npm test", "Allow all edits"],
  questions: [],
};
const colours = ["Red", "Blue", "3"].map((label) => ({ label, description: "" }));
const one = { header: "Colour", question: "Which colour?", options: colours, isMultiple: false };
const several = { ...one, question: "Which colours?", isMultiple: true };
const permission = base;
const plan: Asked = { ...base, kind: "plan", tool: "ExitPlanMode", always: [] };
const question: Asked = { ...base, kind: "question", tool: "AskUserQuestion", questions: [one], always: [] };
const two: Asked = { ...question, questions: [one, several] };

describe("words", () => {
  const say = (asked: Asked, words: string) => readAnswerWords(asked, words.split(" "));

  test.each([
    [permission, "allow", { do: "allow" }],
    [permission, "ALLOW", { do: "allow" }],
    [permission, "always 1", { do: "always", choice: 0 }],
    [permission, "always 2", { do: "always", choice: 1 }],
    [{ ...permission, always: ["x"] }, "always", { do: "always", choice: 0 }],
    [permission, "deny", { do: "deny", message: null }],
    [permission, "deny not on a Friday", { do: "deny", message: "not on a Friday" }],
    [plan, "allow", { do: "allow" }],
    [plan, "deny", { do: "deny", message: null }],
    [plan, "deny too long", { do: "deny", message: "too long" }],
    [plan, "add tests first", { do: "deny", message: "add tests first" }],
    [question, "red", { do: "reply", replies: [["Red"]] }],
    [question, "2", { do: "reply", replies: [["Blue"]] }],
    // An option's own name counts before its number.
    [question, "3", { do: "reply", replies: [["3"]] }],
    [question, "7", { do: "reply", replies: [["7"]] }],
    [question, "a dark green", { do: "reply", replies: [["a dark green"]] }],
    [question, "allow", { do: "reply", replies: [["allow"]] }],
    [question, "deny ask me later", { do: "deny", message: "ask me later" }],
    [two, "red blue,red", { do: "reply", replies: [["Red"], ["Blue", "Red"]] }],
    [two, "red 1,2", { do: "reply", replies: [["Red"], ["Red", "Blue"]] }],
    [two, "1 mauve,blue", { do: "reply", replies: [["Red"], ["mauve,blue"]] }],
  ])("%#: %s", (asked, words, answer) => {
    expect(say(asked as Asked, words as string)).toEqual(answer as never);
  });

  test.each([
    [permission, "yes", "a permission is answered with allow, always [N] or deny [MESSAGE]"],
    [permission, "allow it", "allow takes nothing more"],
    [permission, "always", "always takes the number of one of these"],
    [permission, "always 3", "  2  Allow all edits"],
    [permission, "always 1 2", "always takes the number"],
    [two, "red", "2 questions, and 1 answer"],
    [two, "red blue green", "  2  Which colours? (1 Red, 2 Blue, 3 3)"],
  ])("%# is no answer: %s", (asked, words, error) => {
    expect(() => say(asked as Asked, words as string)).toThrow(error as string);
  });

  test("what cannot be allowed for good is not", () => {
    expect(() => say({ ...permission, always: [] }, "always")).toThrow(
      "nothing can be allowed for good here",
    );
  });
});

describe("with the app", () => {
  let world: HeldWorld;
  beforeEach(async () => {
    world = createHeldWorld();
    await world.start();
  });
  afterEach(() => world.destroy());

  async function answer(...args: string[]) {
    const child = world.beckon(["answer", ...args]);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { out, err, code };
  }
  const failed = (err: string) => ({ out: "", err: `beckon: ${err}\n`, code: 1 });

  test("says what was answered, and the log who did", async () => {
    const hook = world.permission(request("s-1"));
    await world.answerable("s-1");
    expect(await answer("s-1", "allow")).toEqual({
      out: "allowed in shop-api: npm test\n",
      err: "",
      code: 0,
    });
    expect(decisionOf(await hook.printed)).toEqual({ behavior: "allow" });
    expect(world.read(world.places.decisions)).toContain('"by":"command line"');
  });

  test("a message that begins with a dash goes behind --", async () => {
    const hook = world.permission(request("s-1"));
    await world.answerable("s-1");
    const { out } = await answer("s-1", "--", "deny", "--force", "is", "not", "--help", "fine");
    expect(out).toBe("denied (--force is not --help fine) in shop-api: npm test\n");
    expect(decisionOf(await hook.printed).message).toContain("--force is not --help fine");
  });

  test("two asks at once: it asks which, and takes a name", async () => {
    const hook = world.permission(request("s-1"));
    const first = await world.answerable("s-1");
    world.permission(request("s-1", { tool_input: { command: "npm publish" } }));
    const second = await world.answerable("s-1", 2);
    const unclear = await answer("s-1", "allow");
    expect(unclear.code).toBe(1);
    expect(unclear.err).toBe(
      `beckon: shop-api asks 2 things. Say which:\n  --ask ${first.answerId}  npm test\n  --ask ${second.answerId}  npm publish\n`,
    );
    expect((await answer("s-1", "allow", "--ask", first.answerId)).code).toBe(0);
    expect(await hook.printed).toContain("allow");
    expect((await answer("s-1", "allow", "--ask", first.answerId)).err).toStartWith(
      "beckon: this ask is gone",
    );
  });

  test("nothing to answer, no such session, no app: each said plainly", async () => {
    await world.send({ session_id: "s-1", hook_event_name: "UserPromptSubmit", prompt: "x", cwd: "/a/shop" });
    expect(await answer("s-1", "allow")).toEqual(failed("nothing to answer: shop asks nothing now"));
    expect(await answer("s-9", "allow")).toEqual(failed("no session begins with s-9. See: beckon status"));
  });

  test("a subagent's ask cannot be answered from here, and it says why", async () => {
    const hook = world.permission(request("s-1", { agent_id: "a1", agent_type: "Explore" }));
    await hook.exited;
    const { err, code } = await answer("s-1", "allow");
    expect(code).toBe(1);
    expect(err).toContain("npm test (shop-api) cannot be answered from here: a subagent asks");
  });

  test("what is asked cannot steer the terminal", async () => {
    world.permission(request("s-1", { tool_input: { command: "echo \u001b[2J\u202egpj.exe" } }));
    await world.answerable("s-1");
    const { out } = await answer("s-1", "deny", "a\u001b[31mb");
    expect(out).toStartWith("denied (");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe("calls that make no sense", () => {
  let world: HeldWorld;
  beforeAll(() => {
    world = createHeldWorld();
  });
  afterAll(() => world.destroy());

  test.each([
    [[], "answer takes a session and"],
    [["s-1"], "answer takes a session and"],
    [["s-1", "allow", "--ask"], "--ask takes the answerId"],
    [["s-1", "--yes"], 'unknown flag "--yes"'],
  ])("%j", async (args, error) => {
    const child = world.beckon(["answer", ...args]);
    expect(await child.stderr.text()).toContain(error);
    expect(await child.exited).toBe(2);
  });

  test("no app is running", async () => {
    const child = world.beckon(["answer", "s-1", "allow"]);
    expect(await child.stderr.text()).toBe("beckon: beckon is not running. Start it with: beckon\n");
    expect(await child.exited).toBe(1);
  });
});
