/** The demo's sessions call the real hooks: what the history tells of them is what happened. */
import { expect, test } from "bun:test";
import { createClaudeDemoDay } from "../../src/agents/claude/demo.ts";
import { agents } from "../../src/agents/index.ts";
import { runSession } from "../../src/cli/demo.ts";
import type { HistoryPage } from "../../src/core/interfaces/wire.ts";
import { createAppFixture } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { mainSource } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";

const fixture = forEachTest(createAppFixture);

test("a request that nobody touches is not told as denied", async () => {
  await fixture.start();
  const agent = agents.find(({ id }) => id === "claude");
  if (!agent) throw new Error("there is no demo");
  const day = createClaudeDemoDay({ now: Date.now(), folder: fixture.home });
  const session = day.sessions.find(({ createSteps }) =>
    createSteps(0).some(({ payload, waitMs }) => waitMs !== undefined && payload.tool_name === "Bash"),
  );
  if (!session) throw new Error("no session of the demo asks");
  const live = new AbortController();
  const running = runSession(
    {
      createSteps: (round) =>
        session
          .createSteps(round)
          .slice(0, -1)
          .map((step) => ({ ...step, afterMs: 50, ...(step.waitMs === undefined ? {} : { waitMs: 3_000 }) })),
    },
    {
      agent,
      day,
      env: fixture.env,
      home: fixture.home,
      command: [process.execPath, mainSource],
      signal: live.signal,
    },
  );
  const findAsk = async () => {
    const page = (await (await fixture.request("/api/history?kind=permission")).json()) as HistoryPage;
    return page.items.findLast(({ how }) => how !== null);
  };
  try {
    await waitUntil(async () => (await findAsk()) !== undefined, 15_000, "the request has ended");
    expect(await findAsk()).toMatchObject({ how: "allowed", where: "terminal" });
  } finally {
    live.abort();
    await running;
  }
}, 30_000);
