/** The sessions of another machine: seen, answered and lost through a link. Both apps and the link's program are real. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { markOff } from "../../src/storage/off-marker.ts";
import { createPromptEvent } from "../app-fixture.ts";
import { forEachTest } from "../for-each-test.ts";
import { waitUntil } from "../wait-until.ts";
import { createTwoMachines } from "./two-machines.ts";

const two = forEachTest(createTwoMachines);

setDefaultTimeout(30_000);
const soonMs = 5_000;

const findAsk = async () => (await two.laptop.fetchSession("s"))?.asks.find(({ answerable }) => answerable);

const answer = (body: object) =>
  two.laptop.post({ by: "command line", ...body }, "/api/sessions/devbox%2Fclaude%3As/answer");

describe("a linked machine", () => {
  test("its sessions are listed here under its name, as it sees them", async () => {
    await two.devbox.start();
    await two.devbox.postHook(createPromptEvent("s"));
    await two.devbox.stopApps();
    await two.start();
    await waitUntil(async () => (await two.laptop.fetchSession("s")) !== undefined, soonMs);
    const [here] = await two.laptop.fetchSessions();
    const [there] = await two.devbox.fetchSessions();
    expect(there).toMatchObject({ machine: null, reachable: true });
    expect(here).toEqual({ ...there, machine: "devbox" } as typeof here);
    await two.devbox.postHook({ session_id: "s", hook_event_name: "Stop", last_assistant_message: "Done." });
    await waitUntil(async () => (await two.laptop.fetchSession("s"))?.lastResponse === "Done.", soonMs);
  });

  test("a request is shown in full and allowed from here, and both logs say from where", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const full = await (await two.laptop.request("/api/sessions/devbox%2Fclaude%3As")).json();
    expect(full).toMatchObject({ asks: [{ asked: { heading: "Run a command", lines: ["npm test"] } }] });
    const ask = (await findAsk())?.answerId;
    const response = await answer({ do: "allow", ask });
    expect([response.status, await response.json()]).toEqual([200, { ok: true, answered: "allowed" }]);
    expect(await decision).toContain('"behavior":"allow"');
    // Once: the ask is gone for everybody.
    expect((await answer({ do: "deny", ask })).status).toBe(409);
    for (const { paths, read } of [two.devbox, two.laptop])
      await waitUntil(() => /command line on \S+/.test(read(paths.answerLog)), soonMs);
  });

  test("what is dangerous needs the second step, which its own machine demands", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    const decision = two.ask("s", { command: "git push --force" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const ask = await findAsk();
    expect(ask?.dangers).not.toBeUndefined();
    expect((await answer({ do: "allow", ask: ask?.answerId })).status).toBe(403);
    const denied = await answer({ do: "deny", message: "not on a Friday", ask: ask?.answerId });
    expect(denied.status).toBe(200);
    expect(await decision).toContain("not on a Friday");
  });

  test("what it asked is in the history here, once, and in what agents waited for you", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    await answer({ do: "allow", ask: (await findAsk())?.answerId });
    await decision;
    const readAsks = async (of: typeof two.laptop) => {
      const page = await (await of.request("/api/history")).json();
      const { items } = page as { items: { kind: string; how?: string | null }[] };
      return items.filter(({ kind }) => kind === "permission").map(({ how }) => how);
    };
    const readBoth = () => Promise.all([readAsks(two.laptop), readAsks(two.devbox)]);
    await waitUntil(async () => (await readBoth()).every(([how]) => how != null), soonMs);
    expect(await readBoth()).toEqual([["allowed"], ["allowed"]]);
    const stats = await (await two.laptop.request("/api/stats?days=1")).json();
    expect(stats).toMatchObject({ days: [{ asks: 1 }] });
  });

  test("a request that is answered there is withdrawn here within a second", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    void two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    await two.devbox.postHook({ session_id: "s", hook_event_name: "Stop", last_assistant_message: "Done." });
    const ms = await waitUntil(async () => (await two.laptop.fetchSession("s"))?.asks.length === 0, soonMs);
    expect(ms).toBeLessThan(1_000);
  });

  test("if it is lost, its sessions stay as last known, cannot be answered, and come back", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    void two.ask("s", { command: "npm test" }).catch(() => {});
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const ask = (await findAsk())?.answerId;
    await two.devbox.stopApps();
    await waitUntil(async () => (await two.laptop.fetchSession("s"))?.reachable === false, soonMs);
    expect(await two.laptop.fetchSession("s")).toMatchObject({
      group: "set_aside",
      silenceKind: "unreachable",
      asks: [{ answerable: false }],
    });
    const response = await answer({ do: "allow", ask });
    expect(response.status).toBe(409);
    expect(((await response.json()) as { error: string }).error).toContain("devbox cannot be reached");
    // `beckon link` starts the app there again.
    await waitUntil(async () => (await two.report())[0]?.state === "linked", 15_000);
    expect((await two.laptop.fetchSession("s"))?.reachable).toBe(true);
  }, 30_000);

  test("if it is lost between the answer and its confirmation, you are told so, and the ask stays", async () => {
    const mark = join(two.laptop.home, "cut");
    writeFileSync(mark, "");
    // Once, the link ends where it should carry an answer.
    const cutting = `if rm "$0" 2>/dev/null; then sed -u '/"kind":"answer"/Q'; else cat; fi | "$@"`;
    two.setMachines({ devbox: { command: ["sh", "-c", cutting, mark, ...two.link] } });
    await two.devbox.start();
    await two.laptop.start();
    await waitUntil(async () => (await two.report())[0]?.state === "linked", 15_000);
    await two.devbox.postHook(createPromptEvent("s"));
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const lost = await answer({ do: "allow", ask: (await findAsk())?.answerId });
    expect([lost.status, await lost.json()]).toEqual([
      409,
      { error: "it is not known whether your answer arrived: the link to devbox was lost. Look there" },
    ]);
    expect((await two.laptop.fetchSession("s"))?.asks).toHaveLength(1);
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    expect((await answer({ do: "allow", ask: (await findAsk())?.answerId })).status).toBe(200);
    expect(await decision).toContain('"behavior":"allow"');
  }, 30_000);

  test("a machine that is taken from the settings leaves the list", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    await waitUntil(async () => (await two.laptop.fetchSession("s")) !== undefined, soonMs);
    two.setMachines({});
    await waitUntil(async () => (await two.laptop.fetchSession("s")) === undefined, 10_000);
    expect(await two.report()).toEqual([]);
  });

  test("why a machine is not linked is said, and a login that is refused is not tried again", async () => {
    two.setMachines({
      box: { command: ["sh", "-c", "echo 'me@box: Permission denied (publickey).' >&2; exit 255"] },
    });
    await two.laptop.start();
    await waitUntil(async () => (await two.report())[0]?.problem != null, soonMs);
    expect(await two.report()).toMatchObject([
      { name: "box", state: "not linked", problem: "ssh may not log in there without a password" },
    ]);
  });

  test("the page shows it, and shows nothing of machines without one", async () => {
    const readFacts = async () =>
      (await (await two.laptop.request("/api/page")).json()) as { machines?: object[] };
    await two.laptop.start();
    expect(await readFacts()).not.toHaveProperty("machines");
    await two.laptop.stopApps();
    await two.start();
    const linked = { name: "devbox", way: "command", target: null, state: "linked", problem: null };
    expect((await readFacts()).machines).toEqual([expect.objectContaining(linked)]);
  });

  test("status lists only its sessions with --machine, and suggests the name for a typo", async () => {
    await two.start();
    await two.laptop.postHook(createPromptEvent("here"));
    await two.devbox.postHook(createPromptEvent("there"));
    await waitUntil(async () => (await two.laptop.fetchSessions()).length === 2, soonMs);
    const status = (...args: string[]) => two.laptop.runBeckon(["status", ...args]);
    expect((await status()).out).toContain("2 working");
    const { out } = await status("--machine", "devbox");
    expect([out.includes("1 working"), out.includes("proj on devbox")]).toEqual([true, true]);
    const { sessions } = JSON.parse((await status("--json", "--machine", "devbox")).out);
    expect(sessions.map(({ machine }: { machine: string }) => machine)).toEqual(["devbox"]);
    expect((await status("--short", "--machine", "devbox")).out).toBe("◐1\n");
    const wrong = await status("--machine", "devbx");
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining('no machine "devbx": did you mean devbox?'),
    ]);
  });

  test("a beckon that its user has stopped stays off, and the list says so", async () => {
    two.setMachines({ devbox: { command: two.link } });
    markOff(two.devbox.paths, "beckon stop");
    await two.laptop.start();
    await waitUntil(async () => (await two.report())[0]?.problem != null, 20_000);
    expect(await two.report()).toMatchObject([
      { state: "not linked", problem: expect.stringContaining("beckon was stopped there, and stays off") },
    ]);
    expect(existsSync(two.devbox.paths.endpoint)).toBe(false);
  });

  test("answer, log and history name its machine", async () => {
    await two.start();
    await two.devbox.postHook(createPromptEvent("s"));
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const run = (...args: string[]) => two.laptop.spawnBeckon(args).stdout.text();
    expect(await run("answer", "devbox/claude:s")).toMatch(/^\S+ on devbox asks: Run a command$/m);
    const allowed = await run("answer", "devbox/claude:s", "allow", "--yes");
    expect(allowed).toMatch(/in \S+ on devbox: npm test/);
    await decision;
    for (const command of ["log", "history"])
      await waitUntil(async () => / on devbox /.test(await run(command)), soonMs, command);
  });

  test("the transcript of its session is there, and what is known of it is here", async () => {
    await two.start();
    const decision = two.ask("s", { command: "npm test" });
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    await answer({ do: "allow", ask: (await findAsk())?.answerId });
    await decision;
    const read = async () => {
      const response = await two.laptop.request(
        `/api/transcript?session=devbox%2Fclaude%3As&at=${Date.now()}`,
      );
      return (await response.json()) as { lines: { text: string }[]; why: string };
    };
    await waitUntil(async () => (await read()).lines.length > 0, soonMs);
    expect((await read()).why).toBe("The transcript is on devbox. This is what beckon recorded here.");
    expect((await read()).lines.map(({ text }) => text)).toEqual(["npm test"]);
  });
});
