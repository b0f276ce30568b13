import { describe, expect, test } from "bun:test";
import { findMachineDifference, findVersionDifference } from "../../src/setup/versions.ts";

describe("where versions differ, the user is told the one command that helps", () => {
  const own = "0.2.0";
  test.each([
    ["nothing if all are the same", { running: own, hooks: own }, null],
    ["nothing if neither app nor hooks are there", { running: null, hooks: null }, null],
    ["the app is another", { running: "0.1.0", hooks: own }, "beckon restart"],
    ["the app is too old to say", { running: undefined, hooks: own }, "beckon restart"],
    ["the hooks are older", { running: own, hooks: "0.1.0" }, "beckon --install"],
    ["app and hooks are older", { running: "0.1.0", hooks: "0.1.0" }, "beckon --install"],
    ["this command is the older one", { running: "0.3.0", hooks: "0.3.0" }, "beckon update"],
  ] as const)("%s", (_, others, fix) => {
    expect(findVersionDifference({ own, ...others })?.fix ?? null).toBe(fix);
  });

  test("both are named", () => {
    expect(findVersionDifference({ own, running: "0.1.0", hooks: "0.1.1" })?.text).toBe(
      "the hooks are of beckon 0.1.1, 0.1.0 is running, but this command is beckon 0.2.0",
    );
  });

  test("of a linked machine, the older side is updated", () => {
    expect(findMachineDifference("devbox", "0.1.0", own)?.fix).toBe("beckon machine update devbox");
    expect(findMachineDifference("devbox", "0.3.0", own)?.fix).toBe("beckon update");
    expect(findMachineDifference("devbox", own, own)).toBeNull();
    expect(findMachineDifference("devbox", null, own)).toBeNull();
  });
});
