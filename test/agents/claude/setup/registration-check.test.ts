/** Whether Claude Code calls beckon, as the running app sees it. */
import { afterAll, expect, test } from "bun:test";
import { createRegistrationCheck } from "../../../../src/agents/claude/setup/folder.ts";
import { removeHomes, temporaryHome } from "../../../setup/home.ts";

afterAll(removeHomes);

const settings = (hook: object) => JSON.stringify({ hooks: { Stop: [{ hooks: [hook] }] } });

test("is seen as soon as the hooks are registered, and as soon as they are removed", async () => {
  const home = temporaryHome();
  const isRegistered = createRegistrationCheck(home.env);
  expect(isRegistered()).toBe(false);
  await home.install();
  expect(isRegistered()).toBe(true);
  await home.uninstall();
  expect(isRegistered()).toBe(false);
});

test.each<[string, string, boolean]>([
  ["a hook for a shell", settings({ type: "command", command: "/opt/beckon hook claude" }), true],
  ["a hook without a shell", settings({ command: "/opt/beckon", args: ["hook", "claude"] }), true],
  ["a byte order mark", `\uFEFF${settings({ command: "/opt/beckon hook claude" })}`, true],
  ["the plugin", '{"enabledPlugins": {"beckon@beckon": true}}', true],
  ["another program", settings({ command: "say done" }), false],
  ["another use of beckon", settings({ command: "/opt/beckon status" }), false],
  ["odd shapes", '{"hooks": {"Stop": [null, {"hooks": 7}, {"hooks": [null, {"command": 1}]}]}}', false],
  ["a mistake", '{"hooks": ', false],
])("%s", (_, text, expected) => {
  const home = temporaryHome();
  home.put(home.settings, text);
  expect(createRegistrationCheck(home.env)()).toBe(expected);
});
