/**
 * What the real Codex makes of patches: its server in a namespace, and a model that calls apply_patch with each.
 *
 * bun codex-patches.ts PORT   a client of the server on that port. Gets one JSON line, {cwd, patches}, and prints a line for each
 *                             patch: the changes of the server's item, null if Codex refuses the patch. Every change is declined.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseJsonLines } from "../../json-lines.ts";
import { waitForValue } from "../../wait-until.ts";
import { home, openNamespace, readFirstLine } from "../namespace.ts";
import { modulesOf, type OtherCli } from "./clis.ts";
import { codexConfig, codexDriver, patchingModel } from "./codex.ts";
import { otherApiReady } from "./fake-api.ts";
import { callTool } from "./prompts.ts";
import { otherApiPort } from "./sandbox.ts";

const serverPort = 8789;
export const patchedFolder = `${home}/proj`;

/** The `changes` of Codex's item for each patch; null if it refuses it. `files` are in the folder of the session. */
export async function readWithCodex(
  cli: OtherCli,
  files: Readonly<Record<string, string>>,
  patches: readonly string[],
): Promise<readonly unknown[]> {
  const folder = mkdtempSync("/tmp/beckon-patches-");
  for (const name of [".codex", "proj/sub"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, ".codex/config.toml"), codexConfig);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "proj", name), text);
  const space = await openNamespace(folder, { cli: modulesOf(cli) });
  try {
    const fakeApi = join(import.meta.dir, "fake-api.ts");
    const api = space.startOutside([process.execPath, fakeApi, String(otherApiPort), "/dev/null"]);
    if ((await readFirstLine(api.stdout)) !== otherApiReady) throw new Error("the fake API did not start");
    const listen = `ws://127.0.0.1:${serverPort}`;
    const env = { ...codexDriver.env, HOME: home, PATH: "/usr/bin:/bin" };
    space.start([`${home}/cli/${cli.program}`, "app-server", "--listen", listen], env);
    const client = space.startOutside([process.execPath, import.meta.path, String(serverPort)]);
    client.stdin.write(JSON.stringify({ cwd: patchedFolder, patches }));
    await client.stdin.end();
    const results = parseJsonLines(await new Response(client.stdout).text());
    if (results.length !== patches.length) throw new Error(`${results.length} of ${patches.length} patches`);
    return results;
  } finally {
    await space.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly thread: { readonly id: string } };
  readonly params?: { readonly item?: { readonly type: string; readonly changes: unknown } };
}

async function connect(url: string): Promise<WebSocket> {
  const tryOnce = async (): Promise<WebSocket | null> => {
    const socket = new WebSocket(url);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    socket.onopen = () => resolve(true);
    socket.onerror = () => resolve(false);
    return (await promise) ? socket : null;
  };
  return (await waitForValue(tryOnce, (socket) => socket !== null)) as WebSocket;
}

async function runClient(port: string): Promise<void> {
  const { cwd, patches } = (await Bun.stdin.json()) as { cwd: string; patches: string[] };
  const socket = await connect(`ws://127.0.0.1:${port}`);
  const answers = new Map<number, (message: Message) => void>();
  let changes: unknown = null;
  let onTurnEnd = () => {};
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    const { id, method, params } = message;
    if (method === undefined) answers.get(id ?? 0)?.(message);
    else if (method === "item/fileChange/requestApproval")
      socket.send(JSON.stringify({ id, result: { decision: "decline" } }));
    else if (method === "item/started" && params?.item?.type === "fileChange") changes = params.item.changes;
    else if (method === "turn/completed") onTurnEnd();
  };
  let lastId = 0;
  const call = (method: string, params: object): Promise<Message> => {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<Message>();
    answers.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    return promise;
  };
  const clientInfo = { name: "test", title: "test", version: "0" };
  await call("initialize", { clientInfo, capabilities: { experimentalApi: true } });
  socket.send(JSON.stringify({ method: "initialized" }));
  const options = { cwd, model: patchingModel, approvalPolicy: "on-request", sandbox: "read-only" };
  const threadId = (await call("thread/start", options)).result?.thread.id;
  for (const patch of patches) {
    changes = null;
    const { promise, resolve } = Promise.withResolvers<void>();
    onTurnEnd = resolve;
    // A prompt is one line.
    const text = callTool("apply_patch", patch).replace(
      /[^ -~]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    await call("turn/start", { threadId, input: [{ type: "text", text }] });
    await promise;
    console.log(JSON.stringify(changes));
  }
  socket.close();
}

if (import.meta.main) await runClient(process.argv[2] ?? "");
