/**
 * `beckon link`: carries messages between another machine and the app of this one. The other machine reads its standard output and
 * writes its standard input; the app is started if it does not run.
 */
import type { Agent } from "../agents/agent.ts";
import { readErrorMessage } from "../core/error-message.ts";
import { maxLineBytes } from "../machines/protocol.ts";
import { isOff } from "../storage/off-marker.ts";
import { type Paths, resolvePaths } from "../storage/paths.ts";
import { createSecret, type Endpoint, readEndpoint } from "../system/endpoint.ts";
import { readLines } from "../system/lines.ts";
import { openLoopbackStream, requestLoopback } from "../system/loopback.ts";
import { parseArguments } from "./args.ts";
import { checkListener, readToken } from "./client.ts";
import { linkCommand } from "./commands/internal.ts";
import { startInBackground } from "./start.ts";

const requestMs = 15_000;

export async function link(args: string[], table: readonly Agent[]): Promise<never> {
  parseArguments(args, linkCommand);
  const paths = resolvePaths();
  const { url } = await findApp(paths, table);
  const authorization = readToken(paths.authHeader);
  const address = `${url}/api/link/${createSecret()}`;
  const ended = new AbortController();
  const response = await openLoopbackStream(address, { authorization }, ended.signal);

  // One after the other: they stay in order, and a machine that sends too much waits.
  const toApp = readLines(Bun.stdin.stream(), maxLineBytes, (line) =>
    requestLoopback(`${address}/message`, { headers: { authorization }, text: line, timeoutMs: requestMs })
      .then(({ status, text }) => {
        if (status !== 200) throw new Error(text);
      })
      .catch((error) => void process.stderr.write(`beckon: ${readErrorMessage(error)}\n`)),
  );
  const fromApp = (async () => {
    for await (const chunk of response) if (!process.stdout.write(chunk)) await drained();
  })();
  await Promise.race([toApp, fromApp]).catch(() => {});
  ended.abort();
  // Standard input would keep the process alive.
  process.exit(0);
}

const drained = (): Promise<unknown> =>
  new Promise((resolve) => {
    process.stdout.once("drain", resolve);
  });

/** The app that runs, or is started now. */
async function findApp(paths: Paths, table: readonly Agent[]): Promise<Endpoint> {
  const running = readEndpoint(paths);
  const isUp =
    running !== null &&
    (await requestLoopback(`${running.url}/health`, { timeoutMs: 2_000 }).then(
      ({ status }) => status === 200,
      () => false,
    ));
  if (!isUp && isOff(paths))
    throw new Error("beckon was stopped there, and stays off until it is started there: beckon start");
  const endpoint = isUp ? running : await startInBackground(paths, table);
  await checkListener(endpoint.url);
  return endpoint;
}
