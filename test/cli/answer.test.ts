import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chooseAsk, parseAnswer } from "../../src/cli/answer.ts";
import type { AskDetails } from "../../src/core/session/ask-details.ts";
import type { SessionView } from "../../src/core/view/session-view.ts";
import {
  type AnswerFixture,
  createAnswerFixture,
  createRequest,
  type Hook,
  parseDecision,
} from "../answers/fixture.ts";
import { colourQuestion } from "../colour-question.ts";
import { waitUntil } from "../wait-until.ts";

const base: AskDetails = {
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
const plan: AskDetails = { ...base, kind: "plan", tool: "ExitPlanMode", always: [] };
const question: AskDetails = {
  ...base,
  kind: "question",
  tool: "AskUserQuestion",
  questions: [one],
  always: [],
};
const two: AskDetails = { ...question, questions: [one, several] };

describe("an answer as typed", () => {
  const parse = (asked: AskDetails, words: string) => parseAnswer(asked, words.split(" "));

  test.each([
    [permission, "allow", { do: "allow" }],
    [permission, "ALLOW", { do: "allow" }],
    [permission, "always 1", { do: "always", choice: 0 }],
    [permission, "always 2", { do: "always", choice: 1 }],
    [{ ...permission, always: ["x"] }, "always", { do: "always", choice: 0 }],
    [permission, "deny", { do: "deny", message: null }],
    [{ ...permission, otherChangesAt: 1 }, "wait", { do: "deny", message: null }],
    [permission, "deny not on a Friday", { do: "deny", message: "not on a Friday" }],
    [plan, "allow", { do: "allow" }],
    [plan, "deny", { do: "deny", message: null }],
    [plan, "deny too long", { do: "deny", message: "too long" }],
    [plan, "add tests first", { do: "deny", message: "add tests first" }],
    [plan, "approve", { do: "allow" }],
    [plan, "Approved", { do: "allow" }],
    [plan, "goes too far", { do: "deny", message: "goes too far" }],
    [question, "red", { do: "reply", replies: [["Red"]] }],
    [question, "2", { do: "reply", replies: [["Blue"]] }],
    // An option's own name counts before its number.
    [question, "3", { do: "reply", replies: [["3"]] }],
    [question, "a dark green", { do: "reply", replies: [["a dark green"]] }],
    [
      { ...question, questions: [{ ...one, options: [{ label: "A", description: "" }] }] },
      "C",
      { do: "reply", replies: [["C"]] },
    ],
    [question, "Grey", { do: "reply", replies: [["Grey"]] }],
    [
      { ...question, questions: [{ ...one, options: [{ label: "Yes", description: "" }] }] },
      "yes",
      { do: "reply", replies: [["Yes"]] },
    ],
    [question, "deny ask me later", { do: "deny", message: "ask me later" }],
    [two, "red blue,red", { do: "reply", replies: [["Red"], ["Blue", "Red"]] }],
    [two, "red 1,2", { do: "reply", replies: [["Red"], ["Red", "Blue"]] }],
    [two, "1 mauve,blue", { do: "reply", replies: [["Red"], ["mauve,blue"]] }],
  ])("%#: %s means what it says", (asked, words, answer) => {
    expect(parse(asked as AskDetails, words as string)).toEqual(answer as never);
  });

  test.each([
    [permission, "yes", "a permission is answered with allow, always [N] or deny [MESSAGE]"],
    [permission, "allow it", "allow takes no text. To send a message, use deny MESSAGE"],
    [permission, "always", "always takes the number of one of these"],
    [permission, "always 3", "  2  Allow all edits"],
    [permission, "always 1 2", "always takes the number"],
    [
      question,
      "7",
      '"7" is not one of the options. Choose one, or put -- before your own text:\n  1  Red\n  2  Blue',
    ],
    [question, "0", "  1  Red"],
    [question, "Allow", "put -- before your own text"],
    [question, "always", "put -- before your own text"],
    [question, "yes", "put -- before your own text"],
    [question, "no", "put -- before your own text"],
    [plan, "yes", '"yes" would send the plan back. To approve it: allow.'],
    [plan, "ok go on", "To send it back with this text: put deny or -- before it"],
    [plan, "approve but rename it", "would send the plan back"],
    [two, "red 1,9", "put -- before your own text"],
    [question, "Bleu", '"Bleu" is not one of the options: did you mean Blue? To send it as it is: -- Bleu'],
    [
      { ...question, questions: [{ ...one, options: [{ label: "Dark blue", description: "" }] }] },
      "dark bleu",
      'did you mean Dark blue? To send it as it is: -- "dark bleu"',
    ],
    [two, "red bleu", "did you mean Blue? To send it as it is: -- bleu"],
    [two, "red rde,2", "did you mean Red,Blue?"],
    [two, "red", "2 questions, but 1 answer"],
    [two, "red blue green", "  2  Which colours? (1 Red, 2 Blue, 3 3)"],
  ])("%#: %s is an error that says what to type", (asked, words, error) => {
    expect(() => parse(asked as AskDetails, words as string)).toThrow(error as string);
  });

  test.each([
    [question, ["7"], [["7"]]],
    [question, ["Bleu"], [["Bleu"]]],
    [question, ["red"], [["red"]]],
    [question, ["deny", "it"], [["deny it"]]],
    [two, ["no", "1,2"], [["no"], ["1,2"]]],
  ])("%#: text after -- is sent as it is", (asked, words, replies) => {
    expect(parseAnswer(asked, words, 0)).toEqual({ do: "reply", replies });
  });

  test("text after -- sends a plan back, even if it says yes", () => {
    expect(parseAnswer(plan, ["yes"], 0)).toEqual({ do: "deny", message: "yes" });
  });

  test("always is an error if the agent offers no rule", () => {
    expect(() => parse({ ...permission, always: [] }, "always")).toThrow(
      "this request cannot be allowed for good. Use allow",
    );
  });
});

test("an ask that opened after the command was started is not the one that it means", () => {
  const ask = { kind: "permission", openedAt: 1_000, answerId: "s-1-1.ab", asked: permission };
  const session = { sessionId: "s-1", project: "shop", asks: [ask] } as unknown as SessionView;
  expect(() => chooseAsk(session, null, 999)).toThrow(
    "shop asks something new since you ran this. See it with: beckon answer s-1 --ask s-1-1.ab",
  );
  expect(chooseAsk(session, null, 1_001)).toBe(ask as never);
  expect(chooseAsk(session, "s-1-1.ab", 999)).toBe(ask as never);
});

describe("while beckon runs", () => {
  let fixture: AnswerFixture;
  beforeEach(async () => {
    fixture = createAnswerFixture();
    await fixture.start();
  });
  afterEach(() => fixture.destroy());

  const answer = (...args: string[]) => fixture.runBeckon(["answer", ...args]);
  const failed = (err: string) => ({ out: "", err: `beckon: ${err}\n`, code: 1 });

  test("prints what was answered, and logs that the command line did it", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    await fixture.waitForAsk("s-1");
    expect(await answer("s-1", "allow")).toEqual({
      out: "allowed in shop-api: npm test\n",
      err: "",
      code: 0,
    });
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
    expect(fixture.read(fixture.paths.answerLog)).toContain('"by":"command line"');
  });

  test("a message that begins with a dash is sent after --", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    await fixture.waitForAsk("s-1");
    const { out } = await answer("s-1", "--", "deny", "--force", "is", "not", "--help", "or", "--debug");
    expect(out).toBe("denied (--force is not --help or --debug) in shop-api: npm test\n");
    expect(parseDecision(await hook.printed).message).toContain("--force is not --help or --debug");
  });

  const dangerous = { tool_input: { command: "rm -rf src\necho done" }, permission_suggestions: [] };

  test("without an answer it shows everything that is asked, and how to answer", async () => {
    fixture.startHook(createRequest("s-1"));
    const first = await fixture.waitForAsk("s-1");
    expect(await answer("s-1")).toEqual({
      out: [
        "shop-api asks: Run a command",
        "",
        "  npm test",
        "",
        "Answer with:",
        `  beckon answer s-1 --ask ${first.answerId} allow`,
        `  beckon answer s-1 --ask ${first.answerId} always   ${first.asked.always[0]}`,
        `  beckon answer s-1 --ask ${first.answerId} deny     or with a message: deny "use pnpm"`,
        "",
      ].join("\n"),
      err: "",
      code: 0,
    });
    fixture.startHook(createRequest("s-1", dangerous));
    const second = await fixture.waitForAsk("s-1", 2);
    const { out } = await answer("s-1");
    expect(out).toContain(`beckon answer s-1 --ask ${first.answerId} allow\n`);
    expect(out).toContain(
      "\n\nshop-api asks: Run a command\n⚠ deletes without asking (rm -rf)\n\n  rm -rf src\n  echo done\n",
    );
    expect((await answer("s-1", "--ask", second.answerId)).out).not.toContain("npm test");
  });

  test("a question is shown with its options", async () => {
    const tool_input = { questions: [colourQuestion] };
    fixture.startHook(
      createRequest("s-1", { tool_name: "AskUserQuestion", tool_input, permission_suggestions: [] }),
    );
    const { answerId } = await fixture.waitForAsk("s-1");
    const { out, code } = await answer("s-1");
    expect(code).toBe(0);
    expect(out).toContain("  Which colour?\n    1. Red: the red one\n    2. Blue: the blue one\n");
    expect(out).toContain(`  beckon answer s-1 --ask ${answerId} 1 `);
    expect((await answer("s-1", "5")).err).toContain("  2  Blue");
    expect((await answer("s-1", "2")).out).toStartWith("replied Blue in shop-api: ");
  });

  test("GET /api/sessions lists the dangers of an ask", async () => {
    fixture.startHook(createRequest("s-1", dangerous));
    await fixture.waitForAsk("s-1");
    const [listed] = (await fixture.fetchSessions())[0]?.asks ?? [];
    expect(listed?.dangers).toEqual(["deletes without asking (rm -rf)"]);
    expect(listed?.asked).toBeUndefined();
  });

  /** Runs in a terminal, and types `typed` at the question, `typedAhead` before it. */
  async function inTerminal(args: string[], typed: string, meanwhile = async () => {}, typedAhead = "") {
    const drawn: string[] = [];
    const child = Bun.spawn([...fixture.command, "answer", ...args], {
      env: { ...fixture.env, TERM: "xterm" },
      terminal: { cols: 100, rows: 30, data: (_, bytes) => void drawn.push(Buffer.from(bytes).toString()) },
    });
    child.terminal?.write(typedAhead);
    const screen = () => drawn.join("").replaceAll("\r\n", "\n");
    const isAsked = () => screen().includes("[y/N]");
    await waitUntil(() => isAsked() || child.exitCode !== null, 5_000);
    await meanwhile();
    if (isAsked()) child.terminal?.write(typed);
    return { code: await child.exited, screen: screen(), isAsked: isAsked() };
  }

  test("allowing something dangerous in a terminal shows it first and asks again", async () => {
    const hook = fixture.startHook(createRequest("s-1", dangerous));
    await fixture.waitForAsk("s-1");
    const no = await inTerminal(["s-1", "allow"], "\n");
    expect(no).toMatchObject({ code: 1, isAsked: true });
    expect(no.screen).toContain("⚠ deletes without asking (rm -rf)\n\n  rm -rf src\n  echo done\n");
    expect(no.screen).toContain("Allow it? [y/N]");
    expect(no.screen).toContain("Nothing was sent.");
    expect(hook.isRunning()).toBe(true);
    expect(await inTerminal(["s-1", "allow"], "y\n")).toMatchObject({ code: 0, isAsked: true });
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("a yes that was typed before the text was shown does not count", async () => {
    const hook = fixture.startHook(createRequest("s-1", dangerous));
    await fixture.waitForAsk("s-1");
    for (const typedAhead of ["y\n", "y"]) {
      const result = await inTerminal(["s-1", "allow"], "\n", async () => {}, typedAhead);
      expect(result).toMatchObject({ code: 1, isAsked: true });
    }
    expect(hook.isRunning()).toBe(true);
    expect(await inTerminal(["s-1", "allow"], "y\n", async () => {}, "n\n")).toMatchObject({ code: 0 });
    expect(parseDecision(await hook.printed)).toEqual({ behavior: "allow" });
  });

  test("a yes counts for the ask that was shown, not for one that replaced it", async () => {
    fixture.startHook(createRequest("s-1", dangerous));
    const { answerId } = await fixture.waitForAsk("s-1");
    const other = { tool_input: { command: "rm -rf /" } };
    let next: Hook | null = null;
    const late = await inTerminal(["s-1", "allow"], "y\n", async () => {
      await fixture.answer("s-1", { ask: answerId, do: "deny" });
      next = fixture.startHook(createRequest("s-1", other));
      await waitUntil(async () => {
        const [open] = (await fixture.fetchDetails("s-1")).asks;
        return open?.answerable && open.answerId !== answerId;
      }, 4_000);
    });
    expect(late).toMatchObject({ code: 1, isAsked: true });
    expect(late.screen).toContain("this ask is gone");
    expect((next as Hook | null)?.isRunning()).toBe(true);
  });

  test("--yes and a short harmless command are not asked again", async () => {
    for (const [id, more, args] of [
      ["s-1", dangerous, ["--yes"]],
      ["s-2", {}, []],
    ] as const) {
      const hook = fixture.startHook(createRequest(id, more));
      await fixture.waitForAsk(id);
      expect(await inTerminal([id, "allow", ...args], "n\n")).toMatchObject({ code: 0, isAsked: false });
      expect(await hook.printed).toContain("allow");
    }
  });

  test("without a terminal, something dangerous is allowed only with --yes, and never from now on", async () => {
    const { permission_suggestions } = createRequest("s-1");
    const hook = fixture.startHook(createRequest("s-1", { ...dangerous, permission_suggestions }));
    await fixture.waitForAsk("s-1");
    expect(await answer("s-1", "allow")).toEqual({
      out: "",
      err: "beckon: this request is marked ⚠ deletes without asking (rm -rf). Without a terminal, it is allowed only with --yes. See beckon help answer.\n",
      code: 2,
    });
    for (const args of [["always"], ["always", "--yes"]])
      expect(await answer("s-1", ...args)).toEqual({
        out: "",
        err: "beckon: it is marked as dangerous, so it can only be allowed once\n",
        code: 1,
      });
    expect(hook.isRunning()).toBe(true);
    expect(await answer("s-1", "allow", "--yes")).toMatchObject({ err: "", code: 0 });
    expect(parseDecision(await hook.printed).behavior).toBe("allow");
  });

  test("without a terminal, several harmless lines need no --yes, and a deny of a dangerous one does not either", async () => {
    const harmless = fixture.startHook(createRequest("s-1", { tool_input: { command: "echo a\necho b" } }));
    await fixture.waitForAsk("s-1");
    expect(await answer("s-1", "allow")).toMatchObject({ out: "allowed in shop-api: echo a …\n", code: 0 });
    expect(parseDecision(await harmless.printed).behavior).toBe("allow");
    const denied = fixture.startHook(createRequest("s-2", dangerous));
    await fixture.waitForAsk("s-2");
    expect((await answer("s-2", "deny")).code).toBe(0);
    expect(parseDecision(await denied.printed).behavior).toBe("deny");
  });

  test("allowing a file prints its name, not its content", async () => {
    const file_path = "/home/dev/shop-api/w.txt";
    fixture.startHook(
      createRequest("s-1", { tool_name: "Write", tool_input: { file_path, content: "secret" } }),
    );
    await fixture.waitForAsk("s-1");
    expect((await answer("s-1", "allow")).out).toBe("allowed in shop-api: Write w.txt\n");
  });

  test("three letters of a session's id are not enough to answer it", async () => {
    fixture.startHook(createRequest("41d07c1a-0000"));
    await fixture.waitForAsk("41d07c1a-0000");
    const short = await answer("41d", "allow");
    expect(short.code).toBe(2);
    expect(short.err).toContain('"41d" is too short: give at least 4 characters');
    expect((await answer("claude:41d", "allow")).code).toBe(2);
    expect((await answer("41d0", "allow")).code).toBe(0);
  });

  test("the project's name answers its only session, and lists the ids if there are several", async () => {
    const hook = fixture.startHook(createRequest("41d07c1a-0000"));
    await fixture.waitForAsk("41d07c1a-0000");
    expect(await answer("shop-api", "allow")).toMatchObject({
      out: "allowed in shop-api: npm test\n",
      code: 0,
    });
    expect(await hook.printed).toContain("allow");
    const second = fixture.startHook(createRequest("52e18d2b-0000"));
    await fixture.waitForAsk("52e18d2b-0000");
    fixture.startHook(createRequest("41d07c1a-0000", { tool_input: { command: "npm publish" } }));
    await waitUntil(
      async () => (await fixture.fetchDetails("41d07c1a-0000")).asks.some(({ answerable }) => answerable),
      4_000,
    );
    expect(await answer("shop-api", "allow")).toEqual(
      failed(
        '2 sessions match "shop-api". Use the id of one of them:\n  41d07c1a  shop-api  needs you\n  52e18d2b  shop-api  needs you',
      ),
    );
    expect(second.isRunning()).toBe(true);
  });

  test("of two sessions in a project, its name means the one that waits", async () => {
    await fixture.postHook({
      session_id: "41d07c1a-0000",
      hook_event_name: "UserPromptSubmit",
      prompt: "x",
      cwd: createRequest("s").cwd,
    });
    const hook = fixture.startHook(createRequest("52e18d2b-0000"));
    const { answerId } = await fixture.waitForAsk("52e18d2b-0000");
    expect((await answer("shop-api")).out).toContain(`  beckon answer 52e18d2b --ask ${answerId} allow\n`);
    expect(await answer("shop-api", "allow")).toMatchObject({ code: 0 });
    expect(await hook.printed).toContain("allow");
  });

  test("--next shows what has waited longest, and sends nothing", async () => {
    expect(await answer("--next")).toEqual(
      failed("no session needs you now. See your sessions: beckon status"),
    );
    const hook = fixture.startHook(createRequest("52e18d2b-0000"));
    const { answerId } = await fixture.waitForAsk("52e18d2b-0000");
    fixture.startHook(createRequest("41d07c1a-0000", { tool_input: { command: "npm publish" } }));
    await fixture.waitForAsk("41d07c1a-0000");
    expect((await answer("--next")).out).toContain(
      `  npm test\n\nAnswer with:\n  beckon answer 52e18d2b --ask ${answerId} allow`,
    );
    expect((await answer("--next", "allow")).code).toBe(2);
    expect(hook.isRunning()).toBe(true);
  });

  test("always prints the rule that the agent writes, not only the command", async () => {
    const rule = { toolName: "Bash", ruleContent: "npm run *" };
    const permission_suggestions = [
      { type: "addRules", rules: [rule], behavior: "allow", destination: "localSettings" },
    ];
    fixture.startHook(createRequest("s-1", { tool_input: { command: "npm run b" }, permission_suggestions }));
    await fixture.waitForAsk("s-1");
    expect((await answer("s-1", "always")).out).toBe(
      "allowed in shop-api: npm run b. From now on: Always allow npm run * in this project, for you\n",
    );
  });

  test("a plan is sent back or approved, and two questions are answered together", async () => {
    const plan = { tool_name: "ExitPlanMode", tool_input: { plan: "1. Do it" }, permission_suggestions: [] };
    fixture.startHook(createRequest("s-1", plan));
    await fixture.waitForAsk("s-1");
    expect((await answer("s-1", "smaller steps")).out).toBe(
      "sent back (smaller steps) in shop-api: the plan\n",
    );
    expect(fixture.read(fixture.paths.answerLog)).toContain('"outcome":"sent back: smaller steps"');
    const options = ["Red", "Blue"].map((label) => ({ label, description: "" }));
    const questions = ["Which colour?", "Which border?"].map((question) => ({
      header: "Colour",
      question,
      multiSelect: false,
      options,
    }));
    fixture.startHook(
      createRequest("s-2", {
        tool_name: "AskUserQuestion",
        tool_input: { questions },
        permission_suggestions: [],
      }),
    );
    await fixture.waitForAsk("s-2");
    expect((await answer("s-2", "Red", "Bleu")).code).toBe(2);
    expect((await answer("s-2", "Red", "Blue")).out).toBe(
      "replied Red / Blue in shop-api: Which colour? and 1 more question\n",
    );
  });

  test("two asks at once: it lists them, and takes the id of one", async () => {
    const hook = fixture.startHook(createRequest("s-1"));
    const first = await fixture.waitForAsk("s-1");
    fixture.startHook(createRequest("s-1", { tool_input: { command: "npm publish" } }));
    const second = await fixture.waitForAsk("s-1", 2);
    const unclear = await answer("s-1", "allow");
    expect(unclear.code).toBe(1);
    expect(unclear.err).toBe(
      `beckon: shop-api asks 2 things. Add one of these to say which:\n  --ask ${first.answerId}  npm test\n  --ask ${second.answerId}  npm publish\n`,
    );
    expect((await answer("s-1", "allow", "--ask", first.answerId)).code).toBe(0);
    expect(await hook.printed).toContain("allow");
    expect((await answer("s-1", "allow", "--ask", first.answerId)).err).toStartWith(
      "beckon: this ask is gone",
    );
  });

  test("the printed command never allows a request that opened after it was printed", async () => {
    fixture.startHook(createRequest("s-1"));
    const { answerId } = await fixture.waitForAsk("s-1");
    const printed = /beckon answer (.+) allow\n/.exec((await answer("s-1")).out)?.[1] ?? "";
    await fixture.answer("s-1", { ask: answerId, do: "deny" });
    const other = fixture.startHook(createRequest("s-1", { tool_input: { command: "npm publish" } }));
    const next = await fixture.waitForAsk("s-1");
    expect(next.answerId).not.toBe(answerId);
    expect((await answer(...printed.split(" "), "allow", "--yes")).err).toContain("this ask is gone");
    expect(other.isRunning()).toBe(true);
    // The one open ask needs no id, as long as it was open when the command was started.
    expect((await answer("s-1", "allow", "--yes")).code).toBe(0);
  });

  test("an ask that only the terminal can answer counts too: which one is meant has to be named", async () => {
    const subagent = fixture.startHook(createRequest("s-1", { agent_id: "a1", agent_type: "Explore" }));
    await subagent.exited;
    const hook = fixture.startHook(createRequest("s-1", { tool_input: { command: "npm publish" } }));
    const { answerId } = await fixture.waitForAsk("s-1");
    expect((await answer("s-1", "allow", "--yes")).err).toBe(
      `beckon: shop-api asks 2 things. Add one of these to say which:\n  --ask ${answerId}  npm publish\n`,
    );
    expect(hook.isRunning()).toBe(true);
    expect((await answer("s-1", "allow", "--yes", "--ask", answerId)).code).toBe(0);
  });

  test("an id that a shell would run is quoted in the printed commands", async () => {
    fixture.startHook(createRequest("$(id)x"));
    const { answerId } = await fixture.waitForAsk(encodeURIComponent("$(id)x"));
    expect((await answer("$(id)x")).out).toContain(`  beckon answer '$(id)x' --ask '${answerId}' allow\n`);
  });

  test("nothing to answer and no such session are different errors", async () => {
    await fixture.postHook({
      session_id: "s-1",
      hook_event_name: "UserPromptSubmit",
      prompt: "x",
      cwd: "/a/shop",
    });
    expect(await answer("s-1", "allow")).toEqual(
      failed("nothing to answer: shop is not waiting for an answer"),
    );
    expect(await answer("shpo", "allow")).toEqual(
      failed('no session has the id or project "shpo": did you mean shop? See your sessions: beckon status'),
    );
    expect(await answer("s-9", "allow")).toEqual(
      failed('no session has the id or project "s-9". See your sessions: beckon status'),
    );
  });

  test("a subagent's ask cannot be answered from here, and the error says why", async () => {
    const hook = fixture.startHook(createRequest("s-1", { agent_id: "a1", agent_type: "Explore" }));
    await hook.exited;
    const { err, code } = await answer("s-1", "allow");
    expect(code).toBe(1);
    expect(err).toContain("npm test (shop-api) cannot be answered from here: a subagent asks");
  });

  test("control characters in an ask do not reach the terminal", async () => {
    fixture.startHook(createRequest("s-1", { tool_input: { command: "echo \u001b[2J\u202egpj.exe" } }));
    await fixture.waitForAsk("s-1");
    const { out } = await answer("s-1", "deny", "a\u001b[31mb");
    expect(out).toStartWith("denied (");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });
});

describe("usage errors", () => {
  let fixture: AnswerFixture;
  beforeAll(() => {
    fixture = createAnswerFixture();
  });
  afterAll(() => fixture.destroy());

  test.each([
    [[], "answer takes a session, and"],
    [["s-1", "allow", "--ask"], "--ask needs a value: --ask ID"],
    [["s-1", "allow", "--ask", "--yes"], '--ask needs a value: --ask ID, but got "--yes"'],
    [
      ["s-1", "--no"],
      'unknown option "--no": answer takes --yes, --next and --ask ID. Text that begins with a dash goes after --.',
    ],
    [["s-1", "--yess", "looks", "good"], 'unknown option "--yess" for answer: did you mean --yes?'],
    [["s-1", "deny", "use", "-f"], 'unknown option "-f"'],
    [["s-1", "\u2014yes", "allow"], 'unknown option "\u2014yes" for answer: did you mean --yes?'],
  ])("%j", async (args, error) => {
    const child = fixture.spawnBeckon(["answer", ...args]);
    expect(await child.stderr.text()).toContain(error);
    expect(await child.exited).toBe(2);
  });

  test("no app is running", async () => {
    const child = fixture.spawnBeckon(["answer", "s-1", "allow"]);
    expect(await child.stderr.text()).toBe("beckon is not running. Start it with: beckon start\n");
    expect(await child.exited).toBe(1);
  });
});
