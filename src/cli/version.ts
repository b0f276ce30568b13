import { version as current } from "../../package.json";
import { readFlags } from "./args.ts";
import { print } from "./print.ts";

export async function version(args: string[]): Promise<number> {
  readFlags("--version", args, []);
  print(`beckon ${current}\n`);
  return 0;
}
