/** The real Claude Code CLI, its real hooks and its real status file: does beckon show what is so? */
import { afterAll, expect } from "bun:test";
import { dialog, scenariosWithCli, summary } from "./scenario.ts";

const { scenario, undisturbed } = scenariosWithCli();

afterAll(() => console.log(summary()));

scenario(
  "a permission answered No in the terminal, which no hook tells, and the next prompt",
  ["permission Bash: touch x"],
  async (world) => {
    await world.startCli();
    await world.type("DO bash touch x");
    await world.is("waiting");
    await world.shows(dialog.permission);
    await world.linger();
    await world.key("4");
    await world.is("idle");
    await world.linger();
    await world.type("SAY next");
    await world.is("idle");
  },
);

scenario(
  "a question answered, and one dismissed with Esc",
  ["question AskUserQuestion: Which colour?", "question AskUserQuestion: Which colour?"],
  async (world) => {
    await world.startCli();
    await world.type("DO ask");
    await world.is("waiting");
    await world.shows(dialog.question);
    await world.linger();
    await world.key("Enter");
    await world.is("idle");
    await world.linger();
    await world.type("DO ask");
    await world.is("waiting");
    await world.shows(dialog.question);
    await world.linger();
    await world.key("Escape");
    await world.is("idle");
  },
);

scenario("a CLI killed while it works is over", [], async (world) => {
  await world.startCli();
  await world.type("DO slow 30");
  await world.is("busy");
  await world.linger();
  await world.killCli();
  await world.showsState("completed");
});

scenario(
  "a subagent's permission when the main turn is over, approved",
  ["permission Bash: touch x"],
  async (world) => {
    await world.startCli();
    await world.type("DO agent DO bash touch x");
    await world.hears("Stop");
    await world.is("waiting");
    await world.shows(dialog.permission);
    await world.linger();
    await world.key("Enter");
    await world.hears("Stop");
    await world.is("idle");
  },
);

undisturbed(
  "a session that ran before beckon, and without its hooks, is there at once",
  async (world) => {
    await world.startCli();
    await world.type("DO bash touch x");
    await world.shows(dialog.permission);
    const sessions = await world.beckon.start();
    expect(sessions).toMatchObject([{ state: "active", activityPhase: "waiting_permission" }]);
    expect(sessions).toHaveLength(1);
  },
  { isInstalled: false },
);

undisturbed(
  "a session that ran before the install is there at once, and then heard by its hooks",
  async (world) => {
    await world.beckon.start();
    await world.startCli();
    await world.showsState("active", "interactable");
    await world.does("beckon --install --no-login");
    // The CLI has read its settings again.
    await world.hears("ConfigChange");
    await world.type("SAY hello");
    await world.arrives("UserPromptSubmit");
    await world.arrives("Stop");
  },
  { isInstalled: false },
);

undisturbed(
  "what happened while beckon was down is there when it starts; killed, it knows it again",
  async (world) => {
    await world.startCli();
    await world.type("SAY hello");
    await world.is("idle");
    await world.type("DO bash touch x");
    await world.hears("PermissionRequest");
    await world.shows(dialog.permission);
    const [first] = await world.beckon.start();
    expect(first).toMatchObject({
      activityPhase: "waiting_permission",
      asks: [{ kind: "permission", tool: "Bash", summary: "touch x" }],
      turnCount: 2,
      lastPrompt: "DO bash touch x",
      lastResponse: "hello",
    });
    await world.beckon.kill();
    const [second] = await world.beckon.start();
    expect(second?.activityPhase).toBe("waiting_permission");
    expect(second?.asks).toEqual(first?.asks ?? []);
    await world.key("Enter");
    await world.is("idle");
    await world.showsState("active", "interactable");
  },
);
