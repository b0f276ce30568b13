/** `beckon open`: opens the dashboard in the browser, or prints its address. */
import { resolvePaths } from "../storage/paths.ts";
import { parseArguments } from "./args.ts";
import { callApi } from "./client.ts";
import { openCommand } from "./commands/open.ts";
import { print } from "./output.ts";

export async function open(args: string[]): Promise<number> {
  const { flags } = parseArguments(args, openCommand);
  const response = await callApi(resolvePaths(), "/api/page/code", { body: {} });
  if (typeof response === "string") throw new Error(response);
  const { url } = response.body;
  if (response.status !== 200 || typeof url !== "string")
    throw new Error("an older beckon is running, without a dashboard. Restart it with: beckon restart");
  if (flags.has("--print")) {
    print(`${url}\n`);
    return 0;
  }
  const { openPage } = await import("../desktop/open-page.ts");
  const problem = await openPage(url);
  if (problem === null) {
    print("Opened the dashboard in your browser. If it did not open: beckon open --print\n");
    return 0;
  }
  const why = problem.endsWith("?") ? problem : `${problem}.`;
  throw new Error(`no browser could be opened: ${why} To get the address, run: beckon open --print`);
}
