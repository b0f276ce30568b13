/** A terminal with a person at it: types, presses keys, reads the screen. */
import { type Env, home, type Namespace } from "./namespace.ts";

export interface Terminal {
  /** Types the text and, once it is on the screen, Enter. */
  type(text: string): Promise<void>;
  key(...keys: readonly string[]): Promise<void>;
  /** Waits until the screen shows it. */
  shows(pattern: RegExp): Promise<void>;
  /** Waits until the screen shows it no more. */
  hides(pattern: RegExp): Promise<void>;
  /** Presses Enter until the screen does not show it any more: in its first moment a dialog takes no key. */
  accepts(pattern: RegExp): Promise<void>;
  /** Whether a program takes every key as it comes. */
  isRaw(): Promise<boolean>;
  /** Everything on the screen, and what went out of it at the top. */
  all(): Promise<string>;
}

const lookMs = 40;
const patienceMs = 15_000;
const againMs = 400;

export async function openTerminal(space: Namespace, env: Env): Promise<Terminal> {
  const tmux = async (...args: readonly string[]): Promise<string> => {
    const ran = await space.run(["tmux", "-S", `${home}/tmux.sock`, "-f", "/dev/null", ...args], env);
    if (ran.code !== 0) throw new Error(`tmux ${args[0]}: ${ran.stderr}`);
    return ran.stdout;
  };
  const screen = () => tmux("capture-pane", "-p");

  async function until(isThere: (screen: string) => boolean, what: string): Promise<void> {
    const end = performance.now() + patienceMs;
    for (let now = await screen(); !isThere(now); now = await screen()) {
      if (performance.now() > end) throw new Error(`the screen does not show ${what}, but\n${now.trim()}`);
      await Bun.sleep(lookMs);
    }
  }

  await tmux("new-session", "-d", "-c", `${home}/proj`, "-x", "150", "-y", "100", "bash --norc --noprofile");
  // Otherwise an Escape is held back, as if more of a key's sequence could come.
  await tmux("set-option", "-g", "escape-time", "0");
  const tty = (await tmux("display-message", "-p", "#{pane_tty}")).trim();
  return {
    async type(text) {
      const times = (now: string) => now.split(text).length;
      const before = times(await screen());
      await tmux("send-keys", "-l", "--", text);
      await until((now) => times(now) > before, text);
      await tmux("send-keys", "Enter");
    },
    async key(...keys) {
      await tmux("send-keys", ...keys);
    },
    async accepts(pattern) {
      const end = performance.now() + patienceMs;
      for (let now = await screen(); pattern.test(now); now = await screen()) {
        if (performance.now() > end) throw new Error(`Enter does not end ${pattern}:\n${now.trim()}`);
        await tmux("send-keys", "Enter");
        await Bun.sleep(againMs);
      }
    },
    async isRaw() {
      const { stdout } = await space.run(["stty", "-a", "-F", tty], env);
      return stdout.includes("-icanon");
    },
    shows: (pattern) => until((now) => pattern.test(now), String(pattern)),
    hides: (pattern) => until((now) => !pattern.test(now), `anything but ${pattern}`),
    all: () => tmux("capture-pane", "-p", "-S", "-"),
  };
}
