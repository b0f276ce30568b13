/** A machine behind a real ssh cannot be reached for some seconds. test/long has a minute, with ssh's own patience. */
import { testWith } from "../needs.ts";
import { cutAndMend } from "./cut-cable.ts";
import { labNeeds } from "./lab.ts";

/** Notices within three seconds that nothing comes back. */
const impatient = ["-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2", "-o", "ConnectTimeout=2"];

testWith(...labNeeds)(
  "a request there is decided in its terminal while the cable is cut, and the next one is answered from here afterwards",
  () =>
    cutAndMend(
      {
        command: [
          "ssh",
          "-T",
          "-o",
          "BatchMode=yes",
          ...impatient,
          "devbox",
          'exec "$HOME/.local/bin/beckon" link',
        ],
      },
      { noticedMs: 15_000, whileCut: async () => {} },
    ),
  120_000,
);
