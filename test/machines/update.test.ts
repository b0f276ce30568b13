/** `beckon machine update` of a machine behind a real ssh. */
import { expect } from "bun:test";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { home } from "../agent/namespace.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { waitUntil } from "../wait-until.ts";
import { labNeeds } from "./lab.ts";
import { openLaptop } from "./laptop.ts";

const soonMs = 20_000;

/** It says that it is older, and is the same otherwise. */
const olderBeckon = `#!/bin/sh
if [ "$1" = --version ]; then echo "beckon 0.0.9"; else exec ${home}/real-beckon "$@"; fi
`;

testWith(...labNeeds)(
  "an update replaces an older beckon, restarts it, and its open request is answered from here afterwards",
  async () => {
    await using laptop = await openLaptop();
    const { app, lab, run } = laptop;
    const devbox = await lab.openHost("devbox", { "real-beckon": binary });
    await devbox.run(["mkdir", "-p", ".local/bin", ".claude"]);
    const placed = join(devbox.folder, ".local/bin/beckon");
    writeFileSync(placed, olderBeckon);
    chmodSync(placed, 0o755);
    laptop.link("devbox");
    await laptop.start();
    const isLinked = () => laptop.isLinked("devbox");
    await waitUntil(isLinked, soonMs);
    const event = {
      session_id: "s",
      hook_event_name: "PermissionRequest",
      cwd: "/home/dev/proj",
      tool_name: "Bash",
      tool_input: { command: "npm test" },
    };
    writeFileSync(join(devbox.folder, "event.json"), JSON.stringify(event));
    const hook = devbox.start(["sh", "-c", "beckon hook claude <event.json"]);
    const findAsk = async () => (await app.fetchSession("s"))?.asks.find(({ answerable }) => answerable);
    await waitUntil(async () => (await findAsk()) !== undefined, soonMs);
    const pidBefore = (await lab.ssh("devbox", "cat .local/state/beckon/endpoint.json")).stdout;

    const updated = await run("machine", "update", "devbox", "--yes");
    expect(updated.stdout).toContain("copy beckon");
    expect(updated.stdout).toContain(", in place of 0.0.9\n");
    expect(updated.stdout).toMatch(/devbox had beckon 0\.0\.9, and has \d+\.\d+\.\d+ now\.\n$/);
    expect(statSync(placed).size).toBe(statSync(binary).size);
    expect((await lab.ssh("devbox", "cat .local/state/beckon/endpoint.json")).stdout).not.toBe(pidBefore);

    const isAnswerable = async () => (await isLinked()) && (await findAsk()) !== undefined;
    await waitUntil(isAnswerable, soonMs);
    const response = await app.post(
      { by: "command line", do: "allow", ask: (await findAsk())?.answerId },
      "/api/sessions/devbox%2Fclaude%3As/answer",
    );
    expect(await response.json()).toEqual({ ok: true, answered: "allowed" });
    expect(await hook.stdout.text()).toContain('"behavior":"allow"');
  },
  60_000,
);
