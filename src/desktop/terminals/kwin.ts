/** Evaluates scripts inside KWin. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interface as dbusInterface } from "@jellybrick/dbus-next";
import type { Bus } from "../dbus.ts";

const replyInterface = "beckon.Kwin";

class ReplyReceiver extends dbusInterface.Interface {
  readonly #onReply: (nonce: string, text: string) => void;

  constructor(onReply: (nonce: string, text: string) => void) {
    super(replyInterface);
    this.#onReply = onReply;
  }

  @dbusInterface.method({ inSignature: "ss", outSignature: "" })
  Reply(nonce: string, text: string): void {
    this.#onReply(nonce, text);
  }
}

const kwin = { destination: "org.kde.KWin" } as const;
const scripting = { ...kwin, path: "/Scripting", interface: "org.kde.kwin.Scripting" } as const;

/**
 * On Wayland KWin lists windows only to scripts that run inside it: it loads one, and the script sends the result back.
 * `expression` must not contain text from elsewhere. null if KWin does not answer.
 */
export async function evaluateKwinScript(bus: Bus, expression: string, timeoutMs: number): Promise<unknown> {
  const nonce = crypto.randomUUID().replaceAll("-", "");
  // A path of its own for each call: a path can have an interface only once.
  const path = `/beckon/kwin/${nonce}`;
  const { promise: reply, resolve } = Promise.withResolvers<string | null>();
  const receiver = new ReplyReceiver((sender, text) => {
    if (sender === nonce) resolve(text);
  });
  const folder = mkdtempSync(join(tmpdir(), "beckon-kwin-"));
  const file = join(folder, "script.js");
  const timer = setTimeout(() => resolve(null), timeoutMs);
  try {
    const target = [bus.name, path, replyInterface, "Reply", nonce]
      .map((part) => JSON.stringify(part))
      .join(", ");
    writeFileSync(file, `callDBus(${target}, JSON.stringify(${expression}));\n`, { mode: 0o600 });
    bus.export(path, receiver);
    const [id] = await bus.call({ ...scripting, member: "loadScript", signature: "ss", body: [file, nonce] });
    if (typeof id !== "number" || id < 0) return null;
    const run = { ...kwin, interface: "org.kde.kwin.Script", member: "run" } as const;
    // Plasma 6 has its scripts under /Scripting, Plasma 5 at the root.
    await bus
      .call({ ...run, path: `/Scripting/Script${id}` })
      .catch(() => bus.call({ ...run, path: `/${id}` }));
    const text = await reply;
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
    await bus.call({ ...scripting, member: "unloadScript", signature: "s", body: [nonce] }).catch(() => {});
  }
}
