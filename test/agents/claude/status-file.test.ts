import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  createPlace,
  createStatusChange,
  findAttended,
  findTranscriptPath,
  parseStatusFile,
} from "../../../src/agents/claude/status-file.ts";

/** As the CLI 2.1.325 wrote it. */
const written = {
  pid: 52,
  sessionId: "06c75a06-35e5-4fac-b012-e960f4753e79",
  cwd: "/home/dev/my.proj",
  startedAt: 1_794_789_281_554,
  procStart: "265340",
  version: "2.1.325",
  kind: "interactive",
  entrypoint: "cli",
  tmux: "s:@0.%0",
  name: "proj-45",
  nameSource: "derived",
  status: "waiting",
  waitingFor: "permission prompt",
  updatedAt: 1_794_789_281_650,
  statusUpdatedAt: 1_794_789_281_650,
};
const read = (fields: Record<string, unknown>) => parseStatusFile(JSON.stringify({ ...written, ...fields }));

const attendedAs = (entrypoint: string | undefined, ...args: string[]) => {
  const file = read({ entrypoint });
  return file && findAttended(file, ["claude", ...args]);
};

describe("the status file", () => {
  test("has the session, its process and its status", () => {
    expect(read({})).toEqual({
      sessionId: written.sessionId,
      pid: 52,
      procStart: "265340",
      cwd: "/home/dev/my.proj",
      status: "waiting",
      waitingFor: "permission",
      updatedAt: 1_794_789_281_650,
      title: null,
      entrypoint: "cli",
      tmuxPane: "%0",
      jobId: null,
      inbox: null,
    });
  });

  test("a background session says how to open it in a terminal", () => {
    const file = read({ kind: "bg", jobId: "4da40465", tmux: undefined });
    expect(file && createStatusChange(file)).toMatchObject({ attach: "claude attach 4da40465" });
    for (const fields of [{ kind: "bg" }, { kind: "bg", jobId: "a; b" }, { jobId: "4da40465" }]) {
      const other = read(fields);
      expect(other && createStatusChange(other)).not.toHaveProperty("attach");
    }
  });

  test("a name that the user chose is the title, a derived one is not", () => {
    expect(read({ nameSource: "user", name: "Checkout" })?.title).toBe("Checkout");
    expect(read({ nameSource: "derived", name: "proj-45" })?.title).toBeNull();
  });

  test("a run that a program started is unattended", () => {
    expect(attendedAs("sdk-cli")).toBe(false);
    expect(attendedAs("sdk-ts", "--permission-prompt-tool", "stdio")).toBe(false);
    expect(attendedAs(undefined)).toBeNull();
    expect(attendedAs("cli")).toBe(true);
  });

  test("of a session in an editor the hooks decide, and without them its command line", () => {
    expect(attendedAs("claude-vscode")).toBeNull();
    expect(attendedAs("claude-vscode", "--permission-prompt-tool", "stdio")).toBe(true);
    expect(attendedAs("claude-desktop", "--print", "--permission-prompt-tool=stdio")).toBe(true);
    expect(attendedAs("claude-vscode", "--permission-prompt-tool=mcp__x__ask")).toBeNull();
  });

  test("claude -p that an editor's session runs is unattended, though it inherits the entrypoint", () => {
    expect(attendedAs("claude-vscode", "-p", "say hello")).toBe(false);
    expect(attendedAs("claude-desktop", "--print")).toBe(false);
  });

  test("without a status it changes nothing", () => {
    const file = read({ status: undefined });
    expect(file?.status).toBeNull();
    expect(file && createStatusChange(file)).toBeNull();
    expect(read({ status: "meditating" })?.status).toBeNull();
  });

  test.each(["", "{", '{"pid":52', "null", "[]", "7", "{}"])("%j is not a status file", (content) => {
    expect(parseStatusFile(content)).toBeNull();
  });

  test.each([{ pid: 0 }, { pid: -3 }, { pid: 1.5 }, { pid: "52" }, { sessionId: "" }, { sessionId: 7 }])(
    "with %j it is none",
    (fields) => expect(read(fields)).toBeNull(),
  );

  test("fields of the wrong type are ignored", () => {
    const wrong = {
      procStart: [],
      cwd: 7,
      waitingFor: {},
      statusUpdatedAt: "now",
      tmux: 7,
      name: 7,
      nameSource: "user",
    };
    expect(read(wrong)).toMatchObject({
      procStart: null,
      cwd: null,
      waitingFor: null,
      updatedAt: null,
      tmuxPane: null,
      title: null,
    });
    expect(read({ procStart: 265_340 })?.procStart).toBe("265340");
  });

  test("its process is local, in that pane", () => {
    const file = read({});
    expect(file && createPlace(file)).toMatchObject({
      local: true,
      pid: 52,
      procStart: "265340",
      env: { TMUX_PANE: "%0" },
    });
    const bare = read({ tmux: null });
    expect(bare && createPlace(bare).env).toEqual({});
  });

  test("every file in the recordings of the CLI is parsed", () => {
    const folder = join(import.meta.dir, "../../fixtures/recordings");
    let seen = 0;
    for (const name of readdirSync(folder)) {
      for (const line of readFileSync(join(folder, name), "utf8").split("\n")) {
        if (!line.includes('"src":"session-file"')) continue;
        const { ms, src, file, gone, ...fields } = JSON.parse(line);
        if (gone || fields.sessionId === undefined) continue;
        seen++;
        const parsed = parseStatusFile(JSON.stringify(fields));
        expect(parsed).toMatchObject({
          sessionId: fields.sessionId,
          pid: fields.pid,
          status: fields.status ?? null,
        });
      }
    }
    expect(seen).toBeGreaterThan(100);
  });
});

describe("its transcript", () => {
  test("is where the CLI writes it", () => {
    const file = read({});
    expect(file && findTranscriptPath(file, "/home/dev/.claude")).toBe(
      "/home/dev/.claude/projects/-home-dev-my-proj/06c75a06-35e5-4fac-b012-e960f4753e79.jsonl",
    );
  });
  test("is unknown for a strange session id or an unknown folder", () => {
    const crooked = read({ sessionId: "../../../etc/passwd" });
    expect(crooked && findTranscriptPath(crooked, "/x")).toBeNull();
    const nowhere = read({ cwd: null });
    expect(nowhere && findTranscriptPath(nowhere, "/x")).toBeNull();
  });
});
