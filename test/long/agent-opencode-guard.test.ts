/** The work guard with the real opencode. */
import { opencodeConfig, opencodeDriver } from "../agent/other/opencode.ts";
import { callTool } from "../agent/other/prompts.ts";
import { describeGuard, project } from "../agent/other/work-guard.ts";

describeGuard({
  driver: opencodeDriver,
  start: (sandbox) => sandbox.startCli(),
  write: (name) => callTool("write", { filePath: `${project}/${name}`, content: "written\n" }),
  run: opencodeDriver.createCommandPrompt,
  options: { files: opencodeConfig({ bash: "allow", edit: "allow" }) },
});
