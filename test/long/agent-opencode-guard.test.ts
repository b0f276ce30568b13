/** The work guard with the real opencode. */
import { bash, opencodeConfig, opencodeDriver } from "../agent/other/opencode.ts";
import { describeGuard, project } from "../agent/other/work-guard.ts";

describeGuard({
  driver: opencodeDriver,
  start: (sandbox) => sandbox.startCli(),
  write: (name) =>
    `DO tool write ${JSON.stringify({ filePath: `${project}/${name}`, content: "written\n" })}`,
  run: bash,
  options: { files: opencodeConfig({ bash: "allow", edit: "allow" }) },
});
