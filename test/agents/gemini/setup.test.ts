/** Install and doctor for Gemini CLI. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createGeminiSetup } from "../../../src/agents/gemini/setup/index.ts";
import { exec } from "../../../src/system/exec.ts";
import { removeHomes, temporaryHome } from "../../setup/home.ts";

afterAll(removeHomes);
const setup = createGeminiSetup({ systemPaths: [] });
const options = { version: null, binary: "/opt/beckon", home: null, platform: "linux" } as const;

test("the hooks are added to the user's settings, and removed without a trace", () => {
  const before = '{\n\t"ui": { "theme": "Dracula" },\n\t"hooks": { "AfterTool": [] }\n}\n';
  const { add, count } = setup.createRegistration(options);
  const after = add(before);
  expect(add(after)).toBe(after);
  expect(count).toBe(7);
  expect(JSON.parse(after).hooks.Notification[0].hooks[0]).toEqual({
    name: "beckon",
    type: "command",
    command: "{ cd / && '/opt/beckon' hook gemini; } 2>/dev/null; exit 0",
    timeout: 5_000,
  });
  expect(JSON.parse(after).hooks).not.toHaveProperty("PreCompress");
  expect(setup.entries.remove(after)).toBe(before);
});

/** Returns a function that registers beckon in these settings, changes their text, and asks doctor. */
function createExaminer() {
  const { env, home, script } = temporaryHome();
  const program = script(join(home, "beckon"), "beckon 1.0.0");
  script(join(home, "programs", "gemini"), "0.61.0");
  const path = setup.settingsPath("user", env, home) ?? "";
  return async (settings: object, change = (text: string) => text) => {
    mkdirSync(dirname(path), { recursive: true });
    const { add } = setup.createRegistration({ ...options, binary: program });
    writeFileSync(path, change(add(JSON.stringify(settings))));
    const { parts } = setup.examine({
      env,
      cwd: null,
      exec,
      version: "1.0.0",
      state: join(home, ".local/state/beckon"),
      program: null,
      binary: program,
      readVersion: async () => "1.0.0",
      readSessionIds: async () => null,
    });
    return (await Promise.all(parts.map((part) => part.findings))).flat();
  };
}

test("doctor names the events whose hook is missing, and those that another beckon registered", async () => {
  const examine = createExaminer();
  const changed = await examine({}, (text) => {
    const { hooks } = JSON.parse(text);
    delete hooks.Notification;
    hooks.AfterTool[0].hooks[0].timeout = 60_000;
    return JSON.stringify({ hooks });
  });
  expect(changed).toMatchObject([
    { id: "gemini.found" },
    {
      ...{ id: "gemini.missing", state: "fail" },
      text: expect.stringMatching(/^6 of 7 events registered in .*: Notification missing$/),
    },
    { id: "gemini.older", state: "warn", text: expect.stringMatching(/: AfterTool$/) },
  ]);
});

test("doctor says that hooks are switched off, and how to switch them on", async () => {
  const examineAll = createExaminer();
  const examine = async (settings: object) =>
    (await examineAll(settings)).map(({ id, state }) => `${id} ${state}`);
  expect(await examine({})).toEqual(["gemini.found ok", "gemini.registered ok"]);
  expect(await examine({ hooksConfig: { enabled: false } })).toContain("gemini.switched-off fail");
  expect(await examine({ hooksConfig: { disabled: ["beckon"] } })).toContain("gemini.disabled fail");
});
