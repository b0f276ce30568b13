/**
 * Makes the slow calls that bring many items to the state that is wanted of them. What an item needs is planned when there is room
 * for its call, from what is wanted then: nothing queues up behind a call that hangs.
 */
export interface CallsOptions<Item> {
  /** In the order in which they get their calls. */
  readonly items: () => Iterable<Item>;
  readonly maxCalls: number;
  /** The call that the item needs now; null if it needs none. */
  readonly plan: (item: Item) => (() => Promise<void>) | null;
  /** The item's call is over. */
  readonly onDone: (item: Item) => void;
}

export interface Calls<Item> {
  /** Starts the calls that are needed and have room. An item never has two calls at the same time. */
  start(): void;
  isCalling(item: Item): boolean;
  /** Resolves when the calls that are under way are over. */
  finish(): Promise<void>;
}

export function createCalls<Item>({ items, maxCalls, plan, onDone }: CallsOptions<Item>): Calls<Item> {
  const running = new Map<Item, Promise<void>>();

  async function run(item: Item, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } finally {
      running.delete(item);
      onDone(item);
    }
  }

  return {
    start() {
      for (const item of items()) {
        if (running.size >= maxCalls) return;
        const call = running.has(item) ? null : plan(item);
        if (!call) continue;
        // A call can ask for others before it waits for anything.
        running.set(item, Promise.resolve());
        running.set(item, run(item, call));
      }
    },
    isCalling: (item) => running.has(item),
    finish: async () => void (await Promise.all(running.values())),
  };
}
