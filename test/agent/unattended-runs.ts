/** `claude -p` with a skill, several times: each run must leave all of its lines in the lifecycle stream, in order. */
import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import type { LifecycleEvent } from "../../src/streams/lifecycle-event.ts";
import { parseJsonLines } from "../json-lines.ts";
import { home } from "./namespace.ts";
import { waitFor } from "./sandbox.ts";
import { createCliTests } from "./scenario.ts";

const runMs = 15_000;
const prompt = "snowflake 스킬 1 테스트";
const stream = "streams/lifecycle.jsonl";
const command = `cd proj && IS_SANDBOX=1 claude --dangerously-skip-permissions -p "${prompt}" </dev/null >/dev/null`;

const expected = ["started", "turn.start", "in_progress", "completed", "turn.end", "ended"];

export function testUnattendedRuns(count: number): void {
  createCliTests().testDriven(
    `each of ${count} unattended runs with a skill leaves all of its lines in the stream, in order`,
    async (sandbox) => {
      sandbox.writeFile(
        ".claude/skills/snowflake/SKILL.md",
        "---\nname: snowflake\ndescription: A test\n---\nSay hello.\n",
      );
      await sandbox.beckon.start();
      const file = sandbox.resolveInHome(stream);
      const readLines = (): LifecycleEvent[] =>
        existsSync(file) ? parseJsonLines(readFileSync(file, "utf8")) : [];
      for (let run = 1; run <= count; run++) {
        await sandbox.runShell(command);
        const countEnded = () => readLines().filter(({ phase }) => phase === "ended").length;
        await waitFor(`the end of run ${run} in the stream`, () => countEnded() === run);
      }
      const runs = Map.groupBy(readLines(), ({ sessionId }) => sessionId);
      expect(runs.size).toBe(count);
      for (const lines of runs.values()) {
        expect(lines.map(({ eventType, phase }): string => phase ?? eventType)).toEqual(expected);
        const times = lines.map(({ occurredAtIso }) => occurredAtIso);
        expect(times).toEqual(times.toSorted());
        expect(lines[2]).toMatchObject({
          skillName: "snowflake",
          triggerCommand: "/snowflake 1",
          turnSeq: 1,
        });
      }
      const skills = "SELECT session_id, phase FROM skill_lifecycle_events";
      await waitFor("the skills in the history", () => sandbox.readHistory(skills).length === 2 * count);
    },
    {
      // The recorder's hooks would keep the CLI waiting until beckon's have run.
      settings: { hooks: {} },
      prompts: { [prompt]: "DO skill snowflake 1" },
      env: { BECKON_STREAM_PATH: `${home}/${stream}` },
    },
    count * runMs,
  );
}
