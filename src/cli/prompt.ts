/** Asks questions in the terminal, one line each. Without a terminal, the lines of standard input are the answers. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { print, stripControls, terminalColumns, wrapText } from "./output.ts";

export interface Prompter {
  /** Resolves with the answer, trimmed. Rejects if there is none: Ctrl-C, or the end of the input. */
  ask(question: string, options?: { readonly isHidden?: boolean }): Promise<string>;
  close(): void;
}

export async function askYesNo(prompter: Prompter, question: string, initial: boolean): Promise<boolean> {
  for (;;) {
    const answer = (await prompter.ask(`${question} ${initial ? "[Y/n]" : "[y/N]"}`)).toLowerCase();
    if (answer === "") return initial;
    if (/^(?:y|yes|n|no)$/.test(answer)) return answer.startsWith("y");
  }
}

const typingColumns = 24;

/** Words stay whole, and what is typed has room in the last line. */
function wrapQuestion(question: string): string[] {
  const columns = Math.max(typingColumns, terminalColumns() - typingColumns);
  return wrapText(question, columns, Number.POSITIVE_INFINITY);
}

export function createPrompter(onStopped: string): Prompter {
  const isTerminal = process.stdin.isTTY === true;
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) print(String(chunk));
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: isTerminal });
  const typed: string[] = [];
  let waiting: ((line: string | null) => void) | null = null;
  let isClosed = false;
  const give = (line: string | null) => {
    const resolve = waiting;
    waiting = null;
    if (resolve) resolve(line);
    else if (line !== null) typed.push(line);
  };
  reader.on("line", give);
  reader.on("SIGINT", () => reader.close());
  reader.on("close", () => {
    isClosed = true;
    give(null);
  });

  return {
    async ask(question, options = {}) {
      const lines = isTerminal ? wrapQuestion(question) : [stripControls(question)];
      const prompt = `${lines.pop()} `;
      print(lines.map((line) => `${line}\n`).join(""));
      if (isTerminal && !options.isHidden) {
        reader.setPrompt(prompt);
        reader.prompt();
      } else print(prompt);
      isHidden = options.isHidden === true;
      const line = await new Promise<string | null>((resolve) => {
        const next = typed.shift();
        if (next !== undefined || isClosed) resolve(next ?? null);
        else waiting = resolve;
      });
      isHidden = false;
      // What was typed or piped in is not on the screen, so neither is its line break. Ctrl-C leaves the cursor in the line.
      if (options.isHidden || !isTerminal || line === null) print("\n");
      if (line === null) throw Object.assign(new Error(onStopped), { exitCode: 1 });
      return line.trim();
    },
    close: () => reader.close(),
  };
}
