/** `beckon focus`, run as a command, without a desktop. */
import { expect, test } from "bun:test";
import { createClock } from "../../src/system/clock.ts";
import { createAppFixture, createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";

const fixture = forEachTest(createAppFixture);

const focus = (...args: string[]) => fixture.runBeckon(["focus", ...args]);
const failed = (err: string) => ({ out: "", err: `${err}\n`, code: 1 });

test("prints why it cannot go there, and where to look", async () => {
  await fixture.start();
  const { pid, procStart } = fixture.startAgent();
  const { host } = createClock()();
  const cwd = `${fixture.home}/shop`;
  await fixture.postHook(createPromptEvent("s-1", { cwd }), {
    pid,
    procStart,
    host,
    tty: "/dev/pts/7",
    env: { TMUX_PANE: "%3" },
  });
  const { err, ...more } = await focus("s-1");
  expect(more).toEqual({ out: "", code: 1 });
  expect(err).toMatch(/^beckon cannot take you there\. .*\. Where to look: tmux %3, in ~\/shop\.\n$/);
  const response = await fixture.post({}, "/api/sessions/s-1/focus");
  const outcome = (await response.json()) as { says: string };
  expect(outcome).toMatchObject({ result: "impossible", by: expect.any(String), why: expect.any(String) });
  expect(outcome.says).toEndWith(`in ${cwd}.`);
});

test("takes at least four characters of an id, and suggests a project that is spelled alike", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("41d07be2-0000"));
  const short = await focus("4");
  expect(short.code).toBe(2);
  expect(short.err).toContain('"4" is too short: give at least 4 characters');
  expect(await focus("porj")).toEqual(
    failed(
      'beckon: no session has the id or project "porj": did you mean proj? See your sessions: beckon status',
    ),
  );
});

test("prints what to do if there is no terminal to go to", async () => {
  await fixture.start();
  await fixture.postHook(createPromptEvent("s-1"));
  expect(await focus("s-1")).toEqual(
    failed(
      "beckon cannot take you there. No hook of this session has reported where its terminal is. Check the hooks: beckon doctor. Where to look: in /home/dev/proj.",
    ),
  );
  await fixture.postHook({ session_id: "s-1", hook_event_name: "SessionEnd", reason: "other" });
  expect(await focus("s-1")).toEqual(
    failed(
      "beckon cannot take you there. The session has ended, so there is no terminal to go to. List the others: beckon status.",
    ),
  );
  expect(await focus("--next")).toEqual(
    failed("beckon: no session needs you now. See your sessions: beckon status"),
  );
});
