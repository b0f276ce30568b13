/** The work guard with the real Claude Code CLI: what it refuses, what the model learns, and that it never blocks when absent. */
import { expect } from "bun:test";
import { readToolResult } from "../agent/answering.ts";
import { faults } from "../agent/faults.ts";
import { home } from "../agent/namespace.ts";
import { type Sandbox, type SandboxOptions, waitFor } from "../agent/sandbox.ts";
import { createCliTests } from "../agent/scenario.ts";
import { waitUntil } from "../wait-until.ts";

const { testWithoutErrors, testDriven } = createCliTests();

const project = `${home}/proj`;
const local = "proj/.claude/settings.local.json";
const acceptEdits = "--permission-mode acceptEdits";
const withBash: SandboxOptions = { settings: { permissions: { allow: ["Bash"] } } };

/** The settings as a user would save them. */
const configure = (sandbox: Sandbox, workGuard: object): Promise<void> =>
  sandbox.runShell(
    `mkdir -p .config/beckon && printf '%s' '${JSON.stringify({ workGuard })}' >.config/beckon/config.json`,
  );

const guardProject = (sandbox: Sandbox, own: object): Promise<void> =>
  configure(sandbox, { projects: { [project]: own } });

/** Starts beckon and the CLI with the guard's hooks in place. */
async function startGuarded(sandbox: Sandbox, own: object, args = acceptEdits): Promise<void> {
  await guardProject(sandbox, own);
  await sandbox.beckon.start();
  await sandbox.waitForFile(local);
  await sandbox.startCli(args);
}

async function write(sandbox: Sandbox, file: string): Promise<void> {
  await sandbox.typeLine(`DO write ${file}`);
  await sandbox.waitForHook("Stop");
}

testWithoutErrors(
  "strict refuses an edit without a port and tells the model why; with a running port it goes through",
  async (sandbox) => {
    await startGuarded(sandbox, { mode: "strict" });

    await write(sandbox, "one.txt");
    expect(sandbox.hasFile("proj/one.txt")).toBe(false);
    const reason = readToolResult(sandbox);
    expect(reason).toContain("No port is running, so this edit is refused");
    expect(reason).toContain('port create ID --title "TITLE"');

    await sandbox.typeLine("DO bash beckon port create login --title Login && beckon port start login");
    await sandbox.waitForHook("Stop");
    expect(readToolResult(sandbox)).toContain("Started the port login (Login) for the session");
    await write(sandbox, "two.txt");
    expect(sandbox.hasFile("proj/two.txt")).toBe(true);
    await waitFor(
      "the port in beckon status",
      () => sandbox.recorder.shown.at(-1)?.sessions.some(({ port }) => port?.id === "login") === true,
    );

    await sandbox.typeLine("DO bash beckon port end");
    await sandbox.waitForHook("Stop");
    await write(sandbox, "three.txt");
    expect(sandbox.hasFile("proj/three.txt")).toBe(false);
  },
  withBash,
);

testWithoutErrors(
  "warn lets the edit through and records it; off does nothing and removes the hook",
  async (sandbox) => {
    await startGuarded(sandbox, { mode: "warn", messages: true });
    await write(sandbox, "one.txt");
    expect(sandbox.hasFile("proj/one.txt")).toBe(true);
    expect(await sandbox.readScreen()).toContain("beckon: no port is running, so this edit belongs to none");
    await waitForEvent(sandbox, "untracked_edit");

    await guardProject(sandbox, { mode: "off" });
    await waitFor("the removal of the hook", () => !sandbox.hasFile(local));
    await write(sandbox, "two.txt");
    expect(sandbox.hasFile("proj/two.txt")).toBe(true);
    expect(await countEvents(sandbox, "untracked_edit")).toBe(1);
  },
);

testWithoutErrors("a session learns its port at its start, if the settings say so", async (sandbox) => {
  await guardProject(sandbox, { mode: "strict", context: true, messages: true });
  await sandbox.beckon.start();
  await sandbox.waitForFile(local);
  const create = (id: string, more = "") => `beckon port create ${id} --title 'About ${id}' ${more}`;
  await sandbox.runShell(`cd proj && ${create("store")} && ${create("login", "--depends-on store")}`);
  await sandbox.runShell("cd proj && beckon port start login");
  await sandbox.startCli(acceptEdits);
  await write(sandbox, "one.txt");
  expect(sandbox.hasFile("proj/one.txt")).toBe(true);
  const text = "Running port login: About login (depends on store, not ended yet)";
  expect(sandbox.readRequests().at(-1)?.hookContext).toBe(text);
  expect(await sandbox.readScreen()).toContain(`beckon: ${text}`);
  await waitForEvent(sandbox, "context_loaded");
});

for (const { title, inject } of faults.filter(({ title }) => !title.includes("binary"))) {
  testDriven(
    `strict never blocks an edit, and no error shows, if ${title}`,
    async (sandbox) => {
      await sandbox.runShell(`mkdir -p ${state} && mount -t tmpfs -o size=8m tmpfs ${home}/${state}`);
      await sandbox.beckon.install();
      await startGuarded(sandbox, { mode: "strict" });
      await write(sandbox, "before.txt");
      expect(sandbox.hasFile("proj/before.txt")).toBe(false);
      await sandbox.beckon.stopPolling();
      await inject(sandbox);
      await write(sandbox, "after.txt");
      expect(sandbox.hasFile("proj/after.txt")).toBe(true);
      expect((await sandbox.readHookErrors()).filter((line) => !line.includes("No port is running"))).toEqual(
        [],
      );
    },
    { isInstalled: false },
  );
}

testWithoutErrors(
  "two sessions in one folder work on two ports, and a resumed session gets its port back",
  async (sandbox) => {
    await startGuarded(sandbox, { mode: "strict" }, `${acceptEdits}; echo left`);
    const start = (id: string) => `beckon port create ${id} --title ${id} && beckon port start ${id}`;
    await sandbox.typeLine(`DO bash ${start("first")}`);
    await sandbox.waitForHook("Stop");
    await write(sandbox, "first.txt");
    expect(sandbox.hasFile("proj/first.txt")).toBe(true);

    // The second session runs beside the first, in the same folder.
    const beside = (prompt: string) =>
      sandbox.runShell(`cd proj && claude ${acceptEdits} -p '${prompt}' </dev/null >/dev/null`);
    await beside("DO write second.txt");
    expect(sandbox.hasFile("proj/second.txt")).toBe(false);
    await beside(`DO bash ${start("second")}`);
    await sandbox.runShell(
      `cd proj && claude ${acceptEdits} --continue -p 'DO write second.txt' </dev/null >/dev/null`,
    );
    expect(sandbox.hasFile("proj/second.txt")).toBe(true);
    await write(sandbox, "still-first.txt");
    await waitForEvent(sandbox, "file_edit", 3);
    const edits = (await readEvents(sandbox)).filter(({ event_type }) => event_type === "file_edit");
    const portOf = (file: string) => edits.find(({ summary }) => summary.endsWith(`/${file}`))?.port_id;
    expect(["first.txt", "second.txt", "still-first.txt"].map(portOf)).toEqual(["first", "second", "first"]);

    await sandbox.typeLine("/exit");
    // The status file goes first: what is typed before the CLI has left the terminal is lost.
    await sandbox.waitForScreen(/^left/m);
    await sandbox.startCli(`${acceptEdits} --resume ${await findSession(sandbox, "first")}`);
    await write(sandbox, "resumed.txt");
    expect(sandbox.hasFile("proj/resumed.txt")).toBe(true);
  },
  withBash,
);

const state = ".local/state/beckon";

interface EventRow {
  readonly session_id: string;
  readonly port_id: string | null;
  readonly event_type: string;
  readonly summary: string;
}

/** The table of the history, copied while beckon writes it. */
async function readEvents(sandbox: Sandbox): Promise<readonly EventRow[]> {
  return sandbox.readHistory<EventRow>("SELECT * FROM session_events ORDER BY created_at");
}

const countEvents = async (sandbox: Sandbox, type: string): Promise<number> =>
  (await readEvents(sandbox)).filter(({ event_type }) => event_type === type).length;

const waitForEvent = (sandbox: Sandbox, type: string, times = 1): Promise<unknown> =>
  waitUntil(async () => (await countEvents(sandbox, type)) >= times, 5_000, type);

const findSession = async (sandbox: Sandbox, port: string): Promise<string> =>
  (await readEvents(sandbox)).find(({ port_id }) => port_id === port)?.session_id ?? "";
