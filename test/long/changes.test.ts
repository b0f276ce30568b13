/** A phase change every 6 ms for a minute: the panel ends with the last one, nothing queues, and memory stays flat. */
import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { residentMb } from "../bench/processes.ts";
import { desktopNeeds, startDesktop } from "../desktop/desktop-harness.ts";
import { findMiddle, readPixels } from "../desktop/pixels.ts";
import { testWith } from "../needs.ts";
import { binary } from "../repo.ts";
import { letTimePass, waitUntil } from "../wait-until.ts";

const changes = 10_000;
const minuteMs = 60_000;
const panel = { x: 1_100, y: 0, width: 180, height: 32 };

testWith(...desktopNeeds)(
  "10,000 phase changes in a minute end with the last one on the panel, and memory stays flat",
  async () => {
    const desktop = await startDesktop({ panel: true, notifications: true });
    try {
      const state = join(desktop.home, "state");
      const app = desktop.spawn([binary], { BECKON_HOME: state, BECKON_PORT: "47219" });
      await waitUntil(() => existsSync(join(state, "endpoint.json")), 10_000);
      const { url } = JSON.parse(readFileSync(join(state, "endpoint.json"), "utf8"));
      const authorization = readFileSync(join(state, "auth-header"), "utf8")
        .trim()
        .replace("Authorization: ", "");
      let posted = 0;
      const postEvent = (session: number, hook_event_name: string) =>
        fetch(`${url}/api/hook`, {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({
            session_id: `s${session}`,
            hook_event_name,
            tool_name: "Bash",
            prompt_id: `p${++posted}`,
          }),
        });
      const findBlockedIcon = async () =>
        findMiddle(
          await readPixels(desktop, panel),
          ([red, green, blue]) => red > 180 && green < 120 && blue < 80,
        );
      const started = performance.now();
      const memory: number[] = [];
      for (let n = 0; n < changes; n++) {
        await postEvent(n % 7, n % 14 < 7 ? "PermissionRequest" : "Stop");
        const dueMs = (n / changes) * minuteMs;
        await letTimePass(Math.max(0, dueMs - (performance.now() - started)), "a rate of changes");
        if (n % 1_000 === 999) memory.push(residentMb(app.pid));
      }
      await postEvent(1, "PermissionRequest");
      await waitUntil(findBlockedIcon, 2_000);
      for (let n = 0; n < 7; n++) await postEvent(n, "Stop");
      await waitUntil(async () => (await findBlockedIcon()) === null, 2_000);
      console.log(
        `${changes} changes in ${((performance.now() - started) / 1_000).toFixed(0)} s; MB after each 1,000: ${memory.map(Math.round).join(" ")}`,
      );
      const [early = 0, late = 0] = [memory[2], memory.at(-1)];
      expect(late).toBeLessThan(early * 1.3);
    } finally {
      await desktop.stop();
    }
  },
  3 * minuteMs,
);
