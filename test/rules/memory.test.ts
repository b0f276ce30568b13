/** The rule that a request offers. */
import { expect, test } from "bun:test";
import { findRuleText } from "../../src/rules/memory.ts";
import { createTally } from "../../src/rules/tally.ts";

const project = "/home/me/shop-web";

/** What is offered after the user has allowed this three times. */
function findOffered(command: string, cwd: string): string | null {
  const tally = createTally();
  const subject = { kind: "command", command, cwd } as const;
  const ask = { agent: "claude", folder: project, project: "shop-web", subject, text: command };
  for (const at of [1, 2, 3]) tally.add({ ...ask, at, waitedMs: 1, how: "allowed", detail: null });
  const [precedent = null] = tally.list();
  return findRuleText({ agent: "claude", subject, project }, project, precedent);
}

test("a request offers a rule only if that rule would answer it", () => {
  expect(findOffered("npm test", project)).toBe("Bash(npm test)");
  expect(findOffered(`cd ${project} && npm test`, `${project}/src`)).toBe("Bash(npm test)");
  // The scripts of another package.
  expect(findOffered("cd packages/api && npm test", project)).toBeNull();
  expect(findOffered("npm test", `${project}/packages/api`)).toBeNull();
});
