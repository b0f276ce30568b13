/** What a verb was called with. */

/** A call that makes no sense: exit code 2, as opposed to 1 for one that failed. */
export function wrongCall(text: string): Error {
  return Object.assign(new Error(`${text}. See beckon --help.`), { exitCode: 2 });
}

/** The flags given, all of them known. `verb` is as the person wrote it. */
export function readFlags<Flag extends string>(
  verb: string,
  args: readonly string[],
  known: readonly Flag[],
): ReadonlySet<Flag> {
  const given = new Set<Flag>();
  for (const arg of args) {
    const flag = known.find((name) => arg === name || arg.startsWith(`${name}=`));
    if (flag === undefined) throw wrongCall(whatIsWrong(verb, arg, known));
    if (arg !== flag) throw wrongCall(`${flag} takes no value, but ${quoted(arg)} was given`);
    given.add(flag);
  }
  return given;
}

function whatIsWrong(verb: string, arg: string, known: readonly string[]): string {
  if (!arg.startsWith("-")) return `${verb} takes no arguments, but ${quoted(arg)} was given`;
  const takes = known.length === 0 ? "takes no flags" : `takes ${known.join(" and ")}`;
  return `unknown flag ${quoted(arg)}: ${verb} ${takes}`;
}

/** Whatever a script passed on by mistake stays one line. */
export function quoted(arg: string): string {
  return JSON.stringify(arg.slice(0, 100)).replace(/[\u007f-\u009f]/g, " ");
}
