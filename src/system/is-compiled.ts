import { consolePathOf } from "./windowless.ts";

/** When beckon runs from source, process.execPath is Bun, and `beckon run` would be a script in the current folder. */
export function isCompiled(main = Bun.main): boolean {
  // The common case first: a hook asks at every event, and the first regular expression takes 0.1 ms.
  return main.startsWith("/$bunfs/") || /^[a-z]:[\\/]~BUN[\\/]/i.test(main);
}

/** How beckon itself is run, with a console: the binary; from source, Bun with the file that it runs. */
export const findOwnCommand = (): [program: string, ...args: string[]] =>
  isCompiled() ? [consolePathOf(process.execPath)] : [process.execPath, Bun.main];
