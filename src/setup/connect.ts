/** The same as `beckon --install` for the person's own settings, by a click: no login item, and the answer a sentence a line. */

import { homeOf } from "../system/home.ts";
import { findProgram } from "./find-program.ts";
import { type InstallOptions, install } from "./install.ts";

export async function connectClaude(
  options: Pick<InstallOptions, "paths" | "env" | "exec" | "version">,
): Promise<string> {
  const program = await findProgram(Bun.main, process.execPath, options.exec);
  const done = await install({ ...options, program, scope: "user", cwd: homeOf(options.env) });
  const what = done.isChanged
    ? `${done.hooks} hooks are registered in ${done.path}.`
    : `Its hooks were registered in ${done.path} already.`;
  const missing =
    done.claude.claude || done.claudeVersion !== null
      ? []
      : ["Claude Code itself was not found: run beckon --install once it is here, to have all of its hooks."];
  const copied = done.binary.do === "copy" ? [`They call a copy of beckon at ${done.binary.binary}.`] : [];
  return [what, ...copied, ...missing, ...done.warnings].join("\n");
}
