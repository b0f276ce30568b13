/** beckon's plugin for opencode as install writes it, loaded as opencode loads it, with a beckon that only keeps what it gets. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opencodeSetup } from "../../../src/agents/opencode/setup/index.ts";
import type { JsonRecord } from "../../../src/core/json.ts";
import { settle } from "../../virtual-time.ts";
import type { ReplayAdapter } from "../replay-other.ts";

type PluginHooks = Readonly<Record<string, (input: unknown, output?: unknown) => Promise<void>>>;

export interface LoadedPlugin {
  /** Both return the payloads that the plugin sent for it. */
  sendEvent(type: string, properties: unknown): Promise<readonly JsonRecord[]>;
  callHook(name: string, input: unknown, output?: unknown): Promise<readonly JsonRecord[]>;
  /** What beckon's program prints for the last request. */
  print(output: unknown): void;
  /** What the plugin sent to opencode's own server. */
  readonly posts: readonly JsonRecord[];
}

export function writePlugin(binary: string, guardScope?: string): string {
  const options = { version: null, binary, home: null, platform: "linux", ...(guardScope && { guardScope }) };
  return opencodeSetup.createRegistration({ ...options, platform: "linux" }).add(null);
}

async function importPlugin(
  binary: string,
  guardScope?: string,
): Promise<(context: object) => Promise<PluginHooks>> {
  const folder = mkdtempSync(join(tmpdir(), "beckon-plugin-"));
  const path = join(folder, "beckon.js");
  writeFileSync(path, writePlugin(binary, guardScope));
  const module = await import(path);
  rmSync(folder, { recursive: true });
  return module.Beckon;
}

/** The plugin with a real program in beckon's place. */
export async function loadPluginFor(
  binary: string,
  guardScope?: string,
  client: object = {},
): Promise<PluginHooks> {
  const start = await importPlugin(binary, guardScope);
  return start({ directory: "/home/dev/proj", client });
}

export async function loadPlugin(): Promise<LoadedPlugin> {
  const start = await importPlugin("/opt/beckon");
  let sent: JsonRecord[] = [];
  let print: (output: unknown) => void = () => {};
  const posts: JsonRecord[] = [];
  const hooks = await start({
    directory: "/home/dev/proj",
    client: { _client: { post: async (request: JsonRecord) => posts.push(request) } },
    startBeckon: async (text: string, onOutput?: (output: unknown) => void) => {
      const { _meta, ...payload } = JSON.parse(text);
      sent.push(payload);
      if (onOutput) print = onOutput;
      return true;
    },
  });
  const call = async (name: string, input: unknown, output?: unknown) => {
    sent = [];
    await hooks[name]?.(input, output);
    await settle();
    return sent;
  };
  return {
    sendEvent: (type, properties) => call("event", { event: { type, properties } }),
    callHook: call,
    print: (output) => print(output),
    posts,
  };
}

/** What the plugin makes of recorded rows. Its own hooks have two arguments; the recorder kept them as `input` and `output`. */
export function createPluginPayloads(): Pick<ReplayAdapter, "reset" | "createPayloads"> {
  let plugin: LoadedPlugin;
  return {
    async reset() {
      plugin = await loadPlugin();
    },
    createPayloads({ event, payload }) {
      const { input, output } = payload;
      if (event === "plugin-load") return [];
      return /^(?:chat|tool)\./.test(event)
        ? plugin.callHook(event, input, output)
        : plugin.sendEvent(event, payload);
    },
  };
}
