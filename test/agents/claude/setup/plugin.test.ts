/** beckon's plugin for Claude Code, as uninstall sees it. */
import { afterAll, expect, test } from "bun:test";
import { claudeSetup } from "../../../../src/agents/claude/setup/index.ts";
import { removeHomes, temporaryHome } from "../../../setup/home.ts";

afterAll(removeHomes);

function leftoversWith(plugin: string): string {
  const home = temporaryHome();
  home.put(home.settings, JSON.stringify({ enabledPlugins: { [plugin]: true } }));
  return claudeSetup.findLeftovers(home.env, null).join("\n");
}

test("the plugin stays, with the command that removes it", () => {
  expect(leftoversWith("beckon@my-shop.io")).toBe(
    "The plugin beckon@my-shop.io stays in Claude Code. To remove it too: claude plugin uninstall beckon@my-shop.io",
  );
});

test.each(["beckon@x; touch y", "beckon@$(id)", "beckon@x\nid", "beckon@ -s"])(
  "a name that a shell would not take for a name is not put into a command: %j",
  (plugin) => {
    expect(leftoversWith(plugin)).toEndWith("To remove it too: /plugin in Claude Code");
  },
);

test("without the plugin there is nothing left", () => {
  expect(claudeSetup.findLeftovers(temporaryHome().env, null)).toEqual([]);
});
