/** The cable to a machine behind a real ssh is cut for a minute, with the command that `beckon machine add` writes. */
import { cutAndMend } from "../machines/cut-cable.ts";
import { labNeeds } from "../machines/lab.ts";
import { testWith } from "../needs.ts";
import { letTimePass } from "../wait-until.ts";

testWith(...labNeeds)(
  "nothing is lost and nothing counts twice if the cable is cut for a minute",
  () =>
    cutAndMend(
      { ssh: "devbox" },
      {
        noticedMs: 60_000,
        whileCut: () =>
          letTimePass(20_000, "the outage itself: a minute with the 40 s that it takes to notice"),
      },
    ),
  300_000,
);
