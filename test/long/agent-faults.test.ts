/**
 * No fault of beckon makes a terminal show an error of its hooks: in the newest CLI, which runs most hooks without a shell, and in the
 * oldest, which shows every hook that fails.
 */
import { cliVersion, oldVersions } from "../agent/cli.ts";
import { faults, projectRemoved, surviveFault } from "../agent/faults.ts";
import { createCliTests } from "../agent/scenario.ts";

const [oldest] = oldVersions;
const { testDriven } = createCliTests(cliVersion, oldest);

for (const fault of faults) {
  for (const cli of [cliVersion, oldest]) {
    const title = `no hook error on the screen of CLI ${cli}: ${fault.title}`;
    testDriven(title, surviveFault(fault), { cli, isInstalled: false });
  }
}
testDriven(`no hook error on the screen: ${projectRemoved.title}`, surviveFault(projectRemoved), {
  isInstalled: false,
});
