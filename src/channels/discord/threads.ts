/** The thread of each session, by the session's key. They are remembered across restarts. */
import { isRecord } from "../../core/json.ts";
import type { ChannelState } from "../channel.ts";

export interface ThreadList {
  /** The id of its thread; null if it has none. */
  find(key: string): string | null;
  /** `thread` is null if it has none any more. */
  save(key: string, thread: string | null): void;
}

const maxThreads = 200;

export function createThreadList(state: ChannelState): ThreadList {
  /** The newest last. */
  function read(): Readonly<Record<string, string>> {
    const { threads } = state.get();
    return isRecord(threads) ? (threads as Record<string, string>) : {};
  }

  return {
    find(key) {
      const threads = read();
      return Object.hasOwn(threads, key) ? (threads[key] ?? null) : null;
    },
    save(key, thread) {
      const others = Object.entries(read()).filter(([known]) => known !== key);
      const all = thread === null ? others : [...others, [key, thread]];
      state.set({ ...state.get(), threads: Object.fromEntries(all.slice(-maxThreads)) });
    },
  };
}
