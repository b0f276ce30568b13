/** The real opencode with beckon's plugin. Its dialogs and answers are in test/long. */
import { expect } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../wait-until.ts";
import { home } from "./namespace.ts";
import { opencodeConfig, opencodeDriver } from "./other/opencode.ts";
import { createOtherCliTests } from "./other/scenario.ts";

const toolCalls = 5;

createOtherCliTests(opencodeDriver).testDriven(
  "a turn with five tool calls needs beckon's program once, and beckon gets every event of it",
  async ({ space, runShell }) => {
    const inHome = (path: string) => join(space.root, home, path);
    const plugin = inHome(".config/opencode/plugins/beckon.js");
    const text = readFileSync(plugin, "utf8");
    const program = /^const binary = "(.+)";$/m.exec(text)?.[1] ?? "";
    const counting = `#!/bin/sh\necho "$*" >>${home}/runs\nexec '${program}' "$@"\n`;
    writeFileSync(inHome("counting.sh"), counting, { mode: 0o755 });
    writeFileSync(plugin, text.replace(JSON.stringify(program), JSON.stringify(`${home}/counting.sh`)));

    const steps = Array.from({ length: toolCalls }, (_, n) =>
      opencodeDriver.createCommandPrompt(`true ${n}`),
    );
    const prompt = steps.join(" >> ").replaceAll(">> DO ", ">> ");
    await runShell(`cd proj && printf %s '${prompt}' | opencode run >/dev/null 2>&1`);

    const journal = inHome(".local/state/beckon/journal");
    const count = (type: string) =>
      readdirSync(journal)
        .map((name) => readFileSync(join(journal, name), "utf8"))
        .join("")
        .split(`"type":"${type}"`).length - 1;
    await waitUntil(() => count("session.idle") === 1, 20_000);
    expect(["tool.started", "tool.ended", "prompt"].map(count)).toEqual([toolCalls, toolCalls, 1]);
    const [first, ...last] = readFileSync(inHome("runs"), "utf8").trim().split("\n");
    expect(first).toBe("hook opencode --connect");
    // On a busy machine opencode ends before its last events are sent.
    expect(last.filter((run) => run !== "hook opencode")).toEqual([]);
    expect(last.length).toBeLessThanOrEqual(3);
  },
  { files: opencodeConfig({ bash: "allow", edit: "allow" }) },
);
