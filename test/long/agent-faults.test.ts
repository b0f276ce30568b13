/** No fault of beckon makes the newest CLI, which runs most hooks without a shell, show an error of its hooks. */
import { cliVersion } from "../agent/cli.ts";
import { faults, surviveFault } from "../agent/faults.ts";
import { createCliTests } from "../agent/scenario.ts";

const { testDriven } = createCliTests(cliVersion);

for (const fault of faults) {
  const title = `no hook error on the screen of CLI ${cliVersion}: ${fault.title}`;
  testDriven(title, surviveFault(fault), { isInstalled: false });
}
