/** What is shown of a request of Codex's shared server: all that an answer allows. */
import { describe, expect, test } from "bun:test";
import { codexAnswering } from "../../../src/agents/codex/answering.ts";
import { addRolloutRow, createRolloutState } from "../../../src/agents/codex/rollout.ts";
import { approvalMethods } from "../../../src/agents/codex/server.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { changesOf, recordedFolder, recordedPatches } from "./recorded-patches.ts";

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
  test.each([
    "/bin/bash -lc 'npm test' # and more",
    "/bin/bash -lc 'npm test' 2>/dev/null",
    "/bin/bash -lc 2>/dev/null 'npm test'",
    "2>/dev/null /bin/bash -lc 'npm test'",
    "/bin/bash -lc 'npm test' ''",
    "/bin/bash -lc 'npm test'; ls",
  ])("with something beside the script is shown as it is: %s", (command) => {
    expect(describeCommand(command)?.lines).toEqual([command]);
  });
  test.each([
    [String.raw`/bin/bash -lc "it's \$5 \"now\""`, `it's $5 "now"`],
    ["/bin/bash -lc ls", "ls"],
    ["/bin/bash -lc 'a'\"'\"'b'", "a'b"],
  ])("in quotes is shown without them: %s", (command, script) => {
    expect(describeCommand(command)?.lines).toEqual([script]);
  });
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

test("a folder, a reason or a root that is not a text of the usual length is shown as it is", () => {
  const path = `/${"x".repeat(5_000)}`;
  expect(describeCommand("make test", { cwd: path })?.lines[1]).toStartWith('⟨cwd⟩ "/xxx');
  expect(describeCommand("make test", { cwd: { uri: "file:///srv" }, reason: ["r"] })?.lines).toEqual([
    "make test",
    '⟨cwd⟩ {"uri":"file:///srv"}',
    '⟨reason⟩ ["r"]',
  ]);
  const change = describeRequest(approvalMethods.patch, { grantRoot: { uri: "file:///" } });
  expect(change?.lines).toContain('⟨grantRoot⟩ {"uri":"file:///"}');
});

describe("what can be allowed for good", () => {
  const offer = (...words: readonly string[]) =>
    describeCommand("ls", {
      availableDecisions: [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: words } }],
    })?.always;
  test("names each word of the rule", () => {
    expect(offer("npm", "run")).toEqual(["Always allow commands that start with: npm run"]);
    expect(offer("npm run")).toEqual(['Always allow commands that start with: "npm run"']);
    expect(offer("npm", "")).toEqual(['Always allow commands that start with: npm ""']);
  });
  test.each<[string, readonly string[]]>([
    ["that every command starts with", []],
    ["that does not fit in one line", ["git", "x".repeat(200)]],
    ["whose words are shown in another order", ["cp", "א", "ב"]],
  ])("is not a rule %s", (_, words) => {
    expect(offer(...words)).toEqual([]);
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

describe("a change of files as the server has read it", () => {
  const folder = recordedFolder;
  const describeChange = (patch: string | undefined, changes: unknown) =>
    describeRequest(approvalMethods.patch, { folder, changes, patch });
  const add = (path: string, diff: string) => ({ path, kind: { type: "add" }, diff });

  test.each(recordedPatches)("$name: every file is shown, and ~/.profile is marked", (recorded) => {
    const changes = changesOf(recorded);
    const details = describeChange(recorded.row.payload.input, changes);
    expect(details?.isWhole).toBe(true);
    const shown = details?.lines.join("\n");
    for (const { path, kind } of changes) {
      expect(shown).toContain(path);
      if (kind.move_path) expect(shown).toContain(`⟨and move it to⟩ ${kind.move_path}`);
    }
    expect(shown).toContain("+echo pwned");
    expect(details?.dangers.join("\n")).toContain("/home/dev/.profile");
  });

  const patch = "*** Begin Patch\n*** Add File: notes.txt\n+hello\n*** End Patch\n";
  const note = add("/home/dev/proj/notes.txt", "hello\n");
  test("is shown with its content, and can be allowed", () => {
    expect(describeChange(patch, [note])).toMatchObject({
      heading: "Change /home/dev/proj/notes.txt",
      lines: ["⟨write⟩ /home/dev/proj/notes.txt", "+hello"],
      isWhole: true,
      dangers: [],
    });
  });
  test("is shown with where a link leads, which is marked", () => {
    const follow = (path: string) => path.replace("/home/dev/proj/notes.txt", "/home/dev/.bashrc");
    const payload = { method: approvalMethods.patch, folder, changes: [note], patch };
    const context = { cwd: folder, links: { home: "/home/dev", follow } };
    const details = codexAnswering.describe(payload, context);
    expect(details?.lines[0]).toBe("⟨a link to⟩ ~/.bashrc");
    expect(details?.dangers.join("\n")).toContain("~/.bashrc");
    const unclear = { ...context, links: { ...context.links, follow: () => null } };
    expect(codexAnswering.describe(payload, unclear)?.isWhole).toBe(false);
  });
  test.each([
    ["another file", [note, add("/home/dev/.profile", "echo pwned\n")]],
    ["a file less", [add("/home/dev/.profile", "hello\n")]],
    ["another text", [add("/home/dev/proj/notes.txt", "hello\nand more\n")]],
    ["another kind", [{ ...note, kind: { type: "delete" } }]],
    ["a move", [{ ...note, kind: { type: "update", move_path: "/home/dev/.profile" } }]],
  ])("cannot be allowed if the server says %s than the patch, and the server's is shown", (_, changes) => {
    const details = describeChange(patch, changes);
    expect(details?.isWhole).toBe(false);
    expect(details?.lines[0]).toBe(
      "⟨the patch and what Codex says about it differ: look at it in the terminal⟩",
    );
    expect(details?.lines.join("\n")).toContain(changes.at(-1)?.path as string);
  });
  test("cannot be allowed if the server did not send it: what the patch names is shown and marked", () => {
    const text = "*** Begin Patch\n  *** Add File: /home/dev/.profile\n+echo pwned\n*** End Patch\n";
    const details = describeChange(text, undefined);
    expect(details).toMatchObject({ isWhole: false, heading: "Change /home/dev/.profile" });
    expect(details?.lines).toEqual(["⟨the change is in the terminal only⟩", ...text.split("\n")]);
    expect(details?.dangers.join("\n")).toContain("/home/dev/.profile");
  });
  test("cannot be allowed if the patch itself is not known", () => {
    expect(describeChange(undefined, [note])).toMatchObject({
      isWhole: false,
      lines: ["⟨the patch itself is in the terminal only⟩", "⟨write⟩ /home/dev/proj/notes.txt", "+hello"],
    });
  });
  test.each([
    ["a kind", { ...note, kind: { type: "link" } }],
    ["no kind", { ...note, kind: undefined }],
    ["a path that is not whole", { ...note, path: "notes.txt" }],
    ["a text that is not one", { ...note, diff: 1 }],
  ])("cannot be allowed if the server's item has %s that beckon does not know", (_, change) => {
    expect(describeChange(patch, [note, change])?.isWhole).toBe(false);
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
