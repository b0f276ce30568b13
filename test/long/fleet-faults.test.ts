/** 200 rounds of faults in a fleet. SEED=… repeats the choices, FLEET_ROUNDS=… says how many. */
import { faultNames, runFaultRounds } from "../machines/fleet/fault-rounds.ts";
import { testWith } from "../needs.ts";
import { chooseSeed, createRandom } from "../random.ts";

const rounds = Number(process.env.FLEET_ROUNDS ?? 200);

testWith("redis-server")(
  `after ${rounds} faults at random all machines list the same, and every history has each ask once`,
  async () => {
    const seed = chooseSeed();
    console.log(`fleet: seed ${seed} (SEED=${seed} repeats its choices)`);
    const random = createRandom(seed);
    await runFaultRounds(
      Array.from({ length: rounds }, () => random.pick(faultNames)),
      random,
    );
  },
  rounds * 60_000,
);
