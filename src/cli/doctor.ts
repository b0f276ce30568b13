/** `beckon doctor`: proves each link with a live event, and says what to do about each that is broken. */
import type { Agent } from "../agents/agent.ts";
import { agents } from "../agents/index.ts";
import { parseArguments } from "./args.ts";
import { examine } from "./doctor-examine.ts";
import { doctorLines } from "./doctor-table.ts";
import { formatLine, print } from "./output.ts";

const usualColumns = 100;

export async function doctor(args: string[], table: readonly Agent[] = agents): Promise<number> {
  const { flags } = parseArguments(args, { command: "doctor", flags: ["--json"] });
  const findings = await examine(process.env, table);
  const ok = !findings.some(({ state }) => state === "fail");
  if (flags.has("--json")) {
    print(`${JSON.stringify({ ok, findings }, null, 2)}\n`);
  } else {
    const columns = process.stdout.columns || Number(process.env.COLUMNS) || usualColumns;
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
    const told = findings.map((one) => ({
      ...one,
      text: formatLine(one.text),
      fix: one.fix && formatLine(one.fix),
    }));
    print(`${doctorLines(told, { columns, colour }).join("\n")}\n`);
  }
  leave(ok ? 0 : 1);
  return ok ? 0 : 1;
}

/** Whatever still hangs (a bus, a program) is not waited for, but what was printed is. */
function leave(code: number): void {
  setTimeout(() => process.exit(code), leaveMs).unref();
}

const leaveMs = 500;
