/** Another machine over a real ssh, as a user who is not root there. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { type Host, labNeeds } from "./lab.ts";
import { openLaptop } from "./laptop.ts";

const soonMs = 15_000;

const about = (sessionId: string, command: string) => ({
  session_id: sessionId,
  hook_event_name: "PermissionRequest",
  cwd: "/home/dev/proj",
  tool_name: "Bash",
  tool_input: { command },
});

/** A laptop that is linked to these hosts. */
async function openWorld(cleanUp: AsyncDisposableStack, ...names: string[]) {
  const laptop = cleanUp.use(await openLaptop());
  const { lab, app } = laptop;
  const hosts = new Map<string, Host>();
  for (const name of names) hosts.set(name, await lab.openHost(name, { ".local/bin/beckon": binary }));
  laptop.link(...names);
  await laptop.start();
  // The link starts beckon there.
  for (const name of names) await waitUntil(() => laptop.isLinked(name), soonMs);

  const findAsk = async (machine: string) =>
    (await app.fetchSessions())
      .find((session) => session.machine === machine)
      ?.asks.find(({ answerable }) => answerable);
  return {
    /** A request of an agent there, which waits for its answer. */
    ask(machine: string, event: object) {
      const host = hosts.get(machine);
      if (!host) throw new Error(`there is no ${machine}`);
      writeFileSync(`${host.folder}/event.json`, JSON.stringify(event));
      return host.start(["sh", "-c", "beckon hook claude <event.json"]);
    },
    waitForAsk: (machine: string) => waitUntil(async () => (await findAsk(machine)) !== undefined, soonMs),
    async answer(machine: string, body: object): Promise<unknown> {
      const path = `/api/sessions/${machine}%2Fclaude%3As/answer`;
      const ask = (await findAsk(machine))?.answerId;
      return (await app.post({ by: "command line", ask, ...body }, path)).json();
    },
    isOpen: async (machine: string) => (await findAsk(machine)) !== undefined,
  };
}

testWith(...labNeeds)(
  "a request on a machine behind ssh is shown here and allowed from here",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const world = await openWorld(cleanUp, "devbox");
    const hook = world.ask("devbox", about("s", "npm test"));
    await world.waitForAsk("devbox");
    expect(await world.answer("devbox", { do: "allow" })).toEqual({ ok: true, answered: "allowed" });
    expect(await hook.stdout.text()).toContain('"behavior":"allow"');
  },
  60_000,
);

testWith(...labNeeds)(
  "of three machines with a session of the same id, each gets its own answer",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const names = ["devbox", "gpu", "build"];
    const world = await openWorld(cleanUp, ...names);
    const hooks = names.map((name) => world.ask(name, about("s", `make ${name}`)));
    for (const name of names) await world.waitForAsk(name);
    expect(await world.answer("gpu", { do: "deny", message: "not on the gpu" })).toMatchObject({ ok: true });
    expect(await hooks[1]?.stdout.text()).toContain("not on the gpu");
    expect([await world.isOpen("devbox"), await world.isOpen("build")]).toEqual([true, true]);
    for (const name of ["build", "devbox"])
      expect(await world.answer(name, { do: "allow" })).toMatchObject({ ok: true });
    for (const hook of [hooks[0], hooks[2]])
      expect(await hook?.stdout.text()).toContain('"behavior":"allow"');
  },
  60_000,
);
