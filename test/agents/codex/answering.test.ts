/** What is shown of a request of Codex's shared server: all that an answer allows. */
import { describe, expect, test } from "bun:test";
import { codexAnswering } from "../../../src/agents/codex/answering.ts";
import { addRolloutRow, createRolloutState } from "../../../src/agents/codex/rollout.ts";
import { approvalMethods } from "../../../src/agents/codex/server.ts";
import type { JsonRecord } from "../../../src/core/json.ts";

const describeRequest = (method: string, payload: JsonRecord) =>
  codexAnswering.describe({ method, threadId: "t", ...payload }, { cwd: "/home/dev/proj" });
const describeCommand = (command: string, more: JsonRecord = {}) =>
  describeRequest(approvalMethods.command, { command, cwd: "/home/dev/proj", ...more });

describe("a command", () => {
  test.each(["/bin/bash", "/usr/bin/zsh", "/usr/local/bin/bash", "/bin/sh"])(
    "in the system's shell %s is shown without it",
    (shell) => {
      expect(describeCommand(`${shell} -lc 'npm test'`)?.lines).toEqual(["npm test"]);
    },
  );
  test.each(["/tmp/x/bash", "/home/dev/proj/bin/sh", "bash", "./bash", "/usr/bin/../../tmp/bash"])(
    "in the shell %s, which the model chose, is shown with it",
    (shell) => {
      const command = `${shell} -lc 'npm test'`;
      expect(describeCommand(command)?.lines).toEqual([command]);
    },
  );
  test("is shown with what else is allowed with it", () => {
    const additionalPermissions = { fileSystem: { write: ["/home/dev"] } };
    const networkApprovalContext = { host: "evil.example" };
    expect(describeCommand("ls", { additionalPermissions, networkApprovalContext })?.lines).toEqual([
      "ls",
      '⟨network⟩ {"host":"evil.example"}',
      '⟨permissions⟩ {"fileSystem":{"write":["/home/dev"]}}',
    ]);
  });
  test("is shown with every field that a newer Codex adds", () => {
    const recorded = {
      ...{ kind: "command", turnId: "t", itemId: "i", startedAtMs: 1, environmentId: "local" },
      commandActions: [{ type: "unknown", command: "ls" }],
      proposedExecpolicyAmendment: ["ls"],
      availableDecisions: ["accept", "cancel"],
      approvalId: null,
    };
    expect(describeCommand("ls", recorded)?.lines).toEqual(["ls"]);
    expect(describeCommand("ls", { ...recorded, runAs: "root", mounts: ["/"] })?.lines).toEqual([
      "ls",
      '⟨runAs⟩ "root"',
      '⟨mounts⟩ ["/"]',
    ]);
  });
});

test("what is typed into a command that runs already is left to the terminal", () => {
  expect(describeCommand("yes", { kind: "command" })?.isWhole).toBe(true);
  expect(describeCommand("yes", { kind: "writeStdin" })).toMatchObject({
    isWhole: false,
    lines: ["⟨typed into a command that runs already⟩", "yes"],
  });
});

test("a command that runs on another machine names it", () => {
  expect(describeCommand("ls", { environmentId: "local" })?.lines).toEqual(["ls"]);
  expect(describeCommand("ls", { environmentId: "prod" })?.lines).toEqual(["ls", '⟨on⟩ "prod"']);
});

describe("a change of files", () => {
  const patch = "*** Begin Patch\n*** Update File: passwd\n+x\n*** End Patch";
  const findPatch = (name: string, fields: JsonRecord) => {
    const state = createRolloutState();
    const payload = { type: name === "apply_patch" ? "custom_tool_call" : "function_call", name, ...fields };
    addRolloutRow(state, JSON.stringify({ type: "response_item", payload: { ...payload, call_id: "c" } }));
    return state.calls.get("c")?.patch ?? null;
  };
  const run = (cmd: string) => findPatch("exec_command", { arguments: JSON.stringify({ cmd }) });

  test("is known from its call, also through the shell", () => {
    expect(findPatch("apply_patch", { input: patch })).toBe(patch);
    expect(run(`apply_patch <<'EOF'\n${patch}\nEOF\n`)).toBe(patch);
    expect(run(`applypatch << "PATCH"\n${patch}\nPATCH`)).toBe(patch);
  });
  test.each([
    ["another folder", `cd /etc && apply_patch <<'EOF'\n${patch}\nEOF`],
    ["another command before it", `true; apply_patch <<'EOF'\n${patch}\nEOF`],
    ["another command after it", `apply_patch <<'EOF'\n${patch}\nEOF\ntrue`],
    ["text that the shell changes", `apply_patch <<EOF\n${patch}\nEOF`],
  ])("with %s is left to the terminal", (_, command) => {
    expect(run(command)).toBeNull();
  });
  test("that is not known is left to the terminal", () => {
    expect(describeRequest(approvalMethods.patch, {})?.isWhole).toBe(false);
  });
});

describe("a question", () => {
  const ask = (question: string, labels: readonly string[]) =>
    describeRequest(approvalMethods.question, {
      questions: [{ id: "q", header: "h", question, options: labels.map((label) => ({ label })) }],
    });
  test("is shown to its end", () => {
    const question = `${"word ".repeat(200)}and the end`;
    const details = ask(question, ["Yes"]);
    expect(details?.isWhole).toBe(true);
    expect(details?.questions[0]?.question).toBe(question);
    expect(details?.lines.join("")).toContain("and the end");
  });
  test("with more options than are listed is not shown as a whole", () => {
    const labels = Array.from({ length: 20 }, (_, n) => `option ${n}`);
    expect(ask("Which?", labels.slice(0, 12))?.isWhole).toBe(true);
    expect(ask("Which?", labels)?.isWhole).toBe(false);
  });
});
