/** KWin on Wayland tells of windows only to scripts that run inside it: it is handed one, and the script tells us. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interface as dbusInterface } from "@jellybrick/dbus-next";
import type { Bus } from "../dbus.ts";

const name = "beckon.Kwin";

class Ear extends dbusInterface.Interface {
  readonly #hear: (nonce: string, text: string) => void;

  constructor(hear: (nonce: string, text: string) => void) {
    super(name);
    this.#hear = hear;
  }

  @dbusInterface.method({ inSignature: "ss", outSignature: "" })
  Tell(nonce: string, text: string): void {
    this.#hear(nonce, text);
  }
}

const kwin = { destination: "org.kde.KWin" } as const;
const scripting = { ...kwin, path: "/Scripting", interface: "org.kde.kwin.Scripting" } as const;

/** `expression` is JavaScript of ours alone; null: KWin does not answer. */
export async function askKwin(bus: Bus, expression: string, timeoutMs: number): Promise<unknown> {
  const nonce = crypto.randomUUID().replaceAll("-", "");
  // One of its own: a path holds an interface only once.
  const path = `/beckon/kwin/${nonce}`;
  const { promise: heard, resolve } = Promise.withResolvers<string | null>();
  const ear = new Ear((by, text) => {
    if (by === nonce) resolve(text);
  });
  const folder = mkdtempSync(join(tmpdir(), "beckon-kwin-"));
  const file = join(folder, "ask.js");
  const timer = setTimeout(() => resolve(null), timeoutMs);
  try {
    const target = [bus.name, path, name, "Tell", nonce].map((word) => JSON.stringify(word)).join(", ");
    writeFileSync(file, `callDBus(${target}, JSON.stringify(${expression}));\n`, { mode: 0o600 });
    bus.export(path, ear);
    const [id] = await bus.call({ ...scripting, member: "loadScript", signature: "ss", body: [file, nonce] });
    if (typeof id !== "number" || id < 0) return null;
    const run = { ...kwin, interface: "org.kde.kwin.Script", member: "run" } as const;
    // Plasma 6 has its scripts under /Scripting, Plasma 5 at the root.
    await bus
      .call({ ...run, path: `/Scripting/Script${id}` })
      .catch(() => bus.call({ ...run, path: `/${id}` }));
    const text = await heard;
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
    await bus.call({ ...scripting, member: "unloadScript", signature: "s", body: [nonce] }).catch(() => {});
  }
}
