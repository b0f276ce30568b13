import { version as current } from "../../package.json";
import { parseArguments } from "./args.ts";
import { print } from "./output.ts";

export async function version(args: string[]): Promise<number> {
  parseArguments(args, { command: "--version" });
  print(`beckon ${current}\n`);
  return 0;
}
