/** Another machine over a real ssh, as a user who is not root there. */
import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { createAppFixture } from "../app-fixture.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { labNeeds, openLab } from "./lab.ts";

const soonMs = 15_000;

testWith(...labNeeds)(
  "a request on a machine behind ssh is shown here and allowed from here",
  async () => {
    await using cleanUp = new AsyncDisposableStack();
    const lab = cleanUp.adopt(await openLab(), (opened) => opened.close());
    const devbox = await lab.openHost("devbox", { ".local/bin/beckon": binary });
    const laptop = cleanUp.adopt(createAppFixture(), (opened) => opened.destroy());
    mkdirSync(dirname(laptop.paths.config), { recursive: true });
    writeFileSync(laptop.paths.config, JSON.stringify({ machines: { devbox: { ssh: "devbox" } } }));
    await laptop.startProcess({ PATH: `${lab.bin}:${process.env.PATH}` });
    const event = {
      session_id: "s",
      hook_event_name: "PermissionRequest",
      cwd: "/home/dev/proj",
      tool_name: "Bash",
      tool_input: { command: "npm test" },
    };
    writeFileSync(`${devbox.folder}/event.json`, JSON.stringify(event));
    // The link starts beckon there.
    const isLinked = async () => /"linked"/.test(await (await laptop.request("/api/machines")).text());
    await waitUntil(isLinked, soonMs);
    const hook = devbox.start(["sh", "-c", "beckon hook claude <event.json"]);
    const findAsk = async () => (await laptop.fetchSession("s"))?.asks.find(({ answerable }) => answerable);
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const response = await laptop.post(
      { by: "command line", do: "allow", ask: (await findAsk())?.answerId },
      "/api/sessions/devbox%2Fclaude%3As/answer",
    );
    expect(await response.json()).toEqual({ ok: true, answered: "allowed" });
    expect(await hook.stdout.text()).toContain('"behavior":"allow"');
  },
  60_000,
);
