/** The user's terminal, in tmux: types, presses keys, reads the screen. */
import { waitUntil } from "../wait-until.ts";
import { home, type Namespace, type Variables } from "./namespace.ts";

export interface SandboxTerminal {
  /** Types the text and, once it is on the screen, Enter. */
  typeLine(text: string): Promise<void>;
  pressKeys(...keys: readonly string[]): Promise<void>;
  /** Waits until the screen matches. */
  waitForScreen(pattern: RegExp): Promise<void>;
  /** Waits until the screen no longer matches. */
  waitUntilHidden(pattern: RegExp): Promise<void>;
  /** Presses Enter until the screen no longer matches: a dialog ignores keys in its first moment. */
  acceptDialog(pattern: RegExp): Promise<void>;
  /** Whether a program reads single keys. */
  isRaw(): Promise<boolean>;
  /** The screen without its scrollback. */
  readVisible(): Promise<string>;
  /** The screen and its scrollback. */
  readScreen(): Promise<string>;
}

const pollMs = 40;
const timeoutMs = 15_000;
const retryMs = 400;

export async function openTerminal(space: Pick<Namespace, "run">, env: Variables): Promise<SandboxTerminal> {
  const tmux = async (...args: readonly string[]): Promise<string> => {
    const result = await space.run(["tmux", "-S", `${home}/tmux.sock`, "-f", "/dev/null", ...args], env);
    if (result.code !== 0) throw new Error(`tmux ${args[0]}: ${result.stderr}`);
    return result.stdout;
  };
  const capture = () => tmux("capture-pane", "-p");

  async function waitFor(isMatch: (screen: string) => boolean, what: string): Promise<void> {
    const describe = async () => `${what} on the screen:\n${(await capture()).trim()}`;
    await waitUntil(async () => isMatch(await capture()), timeoutMs, describe, pollMs);
  }

  await tmux("new-session", "-d", "-c", `${home}/proj`, "-x", "150", "-y", "100", "bash --norc --noprofile");
  // Otherwise tmux delays an Escape, in case it starts a longer key sequence.
  await tmux("set-option", "-g", "escape-time", "0");
  const tty = (await tmux("display-message", "-p", "#{pane_tty}")).trim();
  return {
    async typeLine(text) {
      // A long line is wrapped, and its box has a border.
      const condense = (shown: string) => shown.replaceAll(/[\s│┃]+/g, "");
      const count = (now: string) => condense(now).split(condense(text)).length;
      const before = count(await capture());
      await tmux("send-keys", "-l", "--", text);
      await waitFor((now) => count(now) > before, text);
      await tmux("send-keys", "Enter");
    },
    async pressKeys(...keys) {
      await tmux("send-keys", ...keys);
    },
    async acceptDialog(pattern) {
      const isClosed = async () => {
        if (!pattern.test(await capture())) return true;
        await tmux("send-keys", "Enter");
        return false;
      };
      const describe = async () => `Enter closes ${pattern}:\n${(await capture()).trim()}`;
      await waitUntil(isClosed, timeoutMs, describe, retryMs);
    },
    async isRaw() {
      const { stdout } = await space.run(["stty", "-a", "-F", tty], env);
      return stdout.includes("-icanon");
    },
    waitForScreen: (pattern) => waitFor((now) => pattern.test(now), String(pattern)),
    waitUntilHidden: (pattern) => waitFor((now) => !pattern.test(now), `a screen without ${pattern}`),
    readVisible: capture,
    readScreen: () => tmux("capture-pane", "-p", "-S", "-"),
  };
}
