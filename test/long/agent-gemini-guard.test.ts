/** The work guard with the real Gemini CLI. */
import { geminiDriver, shell } from "../agent/other/gemini.ts";
import { describeGuard, project } from "../agent/other/work-guard.ts";

describeGuard({
  driver: geminiDriver,
  start: (sandbox) => sandbox.startCli("--approval-mode=yolo"),
  write: (name) =>
    `DO tool write_file ${JSON.stringify({ file_path: `${project}/${name}`, content: "written\n" })}`,
  run: shell,
});
