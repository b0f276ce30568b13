/** A fleet whose server, cables and machines fail: once each. test/long has 200 rounds of it. */

import { testWith } from "../../needs.ts";
import { chooseSeed, createRandom } from "../../random.ts";
import { faultNeeds, runFaultRounds } from "./fault-rounds.ts";

testWith(...faultNeeds)(
  "after any fault all machines show what waits and nothing else, and every history has each ask once",
  async () => {
    const seed = chooseSeed();
    console.log(`fleet: seed ${seed} (SEED=${seed} repeats its choices)`);
    await runFaultRounds(["kill", "hang", "empty", "full", "trim", "kill a machine"], createRandom(seed));
  },
  300_000,
);
