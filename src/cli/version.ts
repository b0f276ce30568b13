import { version as current } from "../../package.json";

export async function version(): Promise<number> {
  process.stdout.write(`beckon ${current}\n`);
  return 0;
}
