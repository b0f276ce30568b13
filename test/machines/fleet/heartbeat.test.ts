/** The clocks of another machine, as what it says every few seconds shows them. */
import { expect, test } from "bun:test";
import { createHeartbeat } from "../../../src/machines/fleet/heartbeat.ts";

function createHearing() {
  let t = 0;
  const heartbeat = createHeartbeat(() => ({ at: 1_000_000 + t, t, boot: "boot", host: "host" }));
  let number = 0;
  return {
    heartbeat,
    /** Said `lateMs` ago by a machine that was started when this clock was at `startedT`. */
    hear(atT: number, lateMs: number, startedT = -5_000): void {
      t = atT;
      const pulse = { at: 1_000_000 + t - lateMs, t: t - lateMs - startedT, hasChannels: false };
      heartbeat.take(++number, pulse, 0);
    },
  };
}

test("what a server that hung hands out late does not move a machine's clocks", () => {
  const { heartbeat, hear } = createHearing();
  hear(10_000, 20);
  hear(20_000, 5);
  hear(38_000, 4_000);
  expect(heartbeat.theirs()).toEqual({ at: 1_000_000 + 38_000 - 5, t: 43_000 - 5 });
});

test("a machine that was started again has the clocks that it says", () => {
  const { heartbeat, hear } = createHearing();
  hear(10_000, 5);
  hear(60_000, 30, 40_000);
  expect(heartbeat.theirs()).toEqual({ at: 1_000_000 + 60_000 - 30, t: 20_000 - 30 });
});
