/** Registers beckon with one agent from the menu: `beckon --install` for the user's own settings, without a login item. */
import { formatCount } from "../core/text/words.ts";
import { homeOf } from "../system/folders.ts";
import { findProgram } from "./binary.ts";
import { type InstallOptions, install } from "./install.ts";

/** What was done, one sentence a line. Throws an error for the user if it could not be done. */
export async function connectAgent(
  agent: string,
  options: Pick<InstallOptions, "agents" | "paths" | "env" | "exec" | "version">,
): Promise<string> {
  const program = await findProgram(Bun.main, process.execPath, options.exec);
  const cwd = homeOf(options.env);
  const { agents, binary, warnings } = await install({
    ...options,
    selected: [agent],
    program,
    scope: "user",
    cwd,
  });
  return [
    ...agents.map(({ isChanged, registration: { count, noun }, path }) =>
      isChanged
        ? `${formatCount(count, noun)} ${count === 1 ? "is" : "are"} registered in ${path}.`
        : `It was registered in ${path} already.`,
    ),
    ...(binary.do === "copy" ? [`The hooks call a copy of beckon at ${binary.binary}.`] : []),
    ...agents.flatMap(({ setup, search, version }) =>
      search.program === null ? setup.describeProgram(search, version) : [],
    ),
    ...warnings,
  ].join("\n");
}
