import { describe, expect } from "bun:test";
import { forEachTest } from "../for-each-test.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { createHarness, environment, event, run } from "./harness.ts";

const harness = forEachTest(createHarness);

/** What JavaScriptCore reports on stderr about the modules that it loads, and the functions that it parses and compiles. */
async function reportOf(payload: object): Promise<string> {
  const { received } = harness.receiver();
  const reporting = {
    BUN_JSC_verboseOSR: "1",
    BUN_JSC_reportBaselineCompileTimes: "1",
    BUN_JSC_reportParseTimes: "1",
  };
  const env = environment(harness.home, { HOME: harness.user, ...reporting });
  const { stderr } = await run([binary, "hook", "claude"], env, JSON.stringify(payload));
  expect(received).toHaveLength(1);
  return stderr;
}

const linesWith = (text: string, report: string): string[] =>
  report.split("\n").filter((line) => line.includes(text));

describe("a hook of the compiled binary", () => {
  testWith("linux")("loads one module: the entry, which has the forwarder in it", async () => {
    expect(linesWith("LLIntModule", await reportOf(event))).toHaveLength(1);
  });

  testWith("linux")("is over before a function is called so often that it is compiled", async () => {
    expect(linesWith("using Baseline", await reportOf(event))).toEqual([]);
  });

  testWith("linux")("calls nothing that the engine has to parse first, such as map() of arrays", async () => {
    const parsed = linesWith("Parsed ", await reportOf(event)).map((line) => line.split(" ")[1]);
    // Bun parses its own start module, twice.
    expect(new Set(parsed).size).toBe(1);
  });
});
