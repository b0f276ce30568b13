/** The work guard with the real Gemini CLI. */
import { geminiDriver } from "../agent/other/gemini.ts";
import { callTool } from "../agent/other/prompts.ts";
import { describeGuard, project } from "../agent/other/work-guard.ts";

describeGuard({
  driver: geminiDriver,
  start: (sandbox) => sandbox.startCli("--approval-mode=yolo"),
  write: (name) => callTool("write_file", { file_path: `${project}/${name}`, content: "written\n" }),
  transcripts: ".gemini/tmp",
  run: geminiDriver.createCommandPrompt,
});
