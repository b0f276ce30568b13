/**
 * 200 rounds of faults in a fleet. SEED=… repeats the choices, FLEET_ROUNDS=… says how many. Every FLEET_LONG_CUT=… of them (50) cuts a
 * machine off for two minutes.
 */
import { faultNames, faultNeeds, runFaultRounds } from "../machines/fleet/fault-rounds.ts";
import { testWith } from "../needs.ts";
import { chooseSeed, createRandom } from "../random.ts";

const rounds = Number(process.env.FLEET_ROUNDS ?? 200);
const longCutEvery = Number(process.env.FLEET_LONG_CUT ?? 50);

testWith(...faultNeeds)(
  `after ${rounds} faults at random all machines show what waits and nothing else, and every history has each ask once`,
  async () => {
    const seed = chooseSeed();
    console.log(`fleet: seed ${seed} (SEED=${seed} repeats its choices)`);
    const random = createRandom(seed);
    await runFaultRounds(
      Array.from({ length: rounds }, (_, round) =>
        round % longCutEvery === longCutEvery - 1 ? "cut for minutes" : random.pick(faultNames),
      ),
      random,
    );
  },
  rounds * 60_000,
);
