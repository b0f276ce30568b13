/** What install registers with Codex. */
import { expect, test } from "bun:test";
import { codexSetup } from "../../../src/agents/codex/setup/index.ts";

test("Codex waits for every hook except the one at the end of a tool call", () => {
  const options = { version: null, binary: "/opt/beckon", home: null, platform: "linux" } as const;
  const { hooks } = JSON.parse(codexSetup.createRegistration(options).add(null)) as {
    hooks: Record<string, { hooks: { async?: boolean }[] }[]>;
  };
  const unawaited = Object.entries(hooks)
    .filter(([, groups]) => groups.some((group) => group.hooks.some((hook) => hook.async)))
    .map(([event]) => event);
  expect(unawaited).toEqual(["PostToolUse"]);
});
