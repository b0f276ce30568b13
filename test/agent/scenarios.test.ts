/** The real Claude Code CLI, its real hooks and its real status file: does beckon show what is so? */
import { afterAll, expect } from "bun:test";
import { dialog, scenariosWithCli, summary } from "./scenario.ts";

const { scenario, undisturbed } = scenariosWithCli();

afterAll(() => console.log(summary()));

scenario(
  "a permission answered No in the terminal, which no hook tells, and the next prompt",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO bash touch x");
    await sandbox.is("waiting");
    await sandbox.shows(dialog.permission);
    await sandbox.linger();
    await sandbox.key("4");
    await sandbox.is("idle");
    await sandbox.linger();
    await sandbox.type("SAY next");
    await sandbox.is("idle");
  },
);

scenario(
  "a question answered, and one dismissed with Esc",
  ["question AskUserQuestion: Which colour?", "question AskUserQuestion: Which colour?"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO ask");
    await sandbox.is("waiting");
    await sandbox.shows(dialog.question);
    await sandbox.linger();
    await sandbox.key("Enter");
    await sandbox.is("idle");
    await sandbox.linger();
    await sandbox.type("DO ask");
    await sandbox.is("waiting");
    await sandbox.shows(dialog.question);
    await sandbox.linger();
    await sandbox.key("Escape");
    await sandbox.is("idle");
  },
);

scenario("a CLI killed while it works is over", [], async (sandbox) => {
  await sandbox.startCli();
  await sandbox.type("DO slow 30");
  await sandbox.is("busy");
  await sandbox.linger();
  await sandbox.killCli();
  await sandbox.showsState("completed");
});

scenario(
  "a subagent's permission when the main turn is over, approved",
  ["permission Bash: touch x"],
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO agent DO bash touch x");
    await sandbox.hears("Stop");
    await sandbox.is("waiting");
    await sandbox.shows(dialog.permission);
    await sandbox.linger();
    await sandbox.key("Enter");
    await sandbox.hears("Stop");
    await sandbox.is("idle");
  },
);

undisturbed(
  "a session that ran before beckon, and without its hooks, is there at once",
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("DO bash touch x");
    await sandbox.shows(dialog.permission);
    const sessions = await sandbox.beckon.start();
    expect(sessions).toMatchObject([{ state: "active", activityPhase: "waiting_permission" }]);
    expect(sessions).toHaveLength(1);
  },
  { isInstalled: false },
);

undisturbed(
  "a session that ran before the install is there at once, and then heard by its hooks",
  async (sandbox) => {
    await sandbox.beckon.start();
    await sandbox.startCli();
    await sandbox.showsState("active", "interactable");
    await sandbox.does("beckon --install --no-login");
    // The CLI has read its settings again.
    await sandbox.hears("ConfigChange");
    await sandbox.type("SAY hello");
    await sandbox.arrives("UserPromptSubmit");
    await sandbox.arrives("Stop");
  },
  { isInstalled: false },
);

undisturbed(
  "what happened while beckon was down is there when it starts; killed, it knows it again",
  async (sandbox) => {
    await sandbox.startCli();
    await sandbox.type("SAY hello");
    await sandbox.is("idle");
    await sandbox.type("DO bash touch x");
    await sandbox.hears("PermissionRequest");
    await sandbox.shows(dialog.permission);
    const [first] = await sandbox.beckon.start();
    expect(first).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool: "Bash", summary: "touch x" }],
      turnCount: 2,
      lastPrompt: "DO bash touch x",
      lastResponse: "hello",
    });
    await sandbox.beckon.kill();
    const [second] = await sandbox.beckon.start();
    expect(second?.activityPhase).toBe("waiting_permission");
    expect(second?.asks).toEqual(first?.asks ?? []);
    await sandbox.key("Enter");
    await sandbox.is("idle");
    await sandbox.showsState("active", "interactable");
  },
);
