/** At most one piece of work is under way for each key, and a few in all; of what is wished meanwhile, the last counts. */
export interface LatestPerKey<Wish> {
  /** Resolves when nothing is left to do for this key. */
  set(key: string, wish: Wish): Promise<void>;
  /** What is being done for it, or comes next. */
  get(key: string): Wish | undefined;
  /** Of all that is under way. */
  keys(): readonly string[];
}

interface Line<Wish> {
  wish: Wish;
  isDone: boolean;
  finished: Promise<void>;
}

/** `work` must not reject. */
export function latestPerKey<Wish>(
  maxAtOnce: number,
  work: (key: string, wish: Wish) => Promise<void>,
): LatestPerKey<Wish> {
  const lines = new Map<string, Line<Wish>>();
  const waiting: (() => void)[] = [];
  let atOnce = 0;

  async function run(key: string, line: Line<Wish>): Promise<void> {
    if (atOnce >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else atOnce += 1;
    while (!line.isDone) {
      line.isDone = true;
      await work(key, line.wish);
    }
    lines.delete(key);
    const next = waiting.shift();
    if (next === undefined) atOnce -= 1;
    else next();
  }

  return {
    set(key, wish) {
      const line = lines.get(key);
      if (line !== undefined) {
        line.wish = wish;
        line.isDone = false;
        return line.finished;
      }
      const fresh: Line<Wish> = { wish, isDone: false, finished: Promise.resolve() };
      lines.set(key, fresh);
      fresh.finished = run(key, fresh);
      return fresh.finished;
    },
    get: (key) => lines.get(key)?.wish,
    keys: () => [...lines.keys()],
  };
}

/** As long as it may take; what comes later is not waited for. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  const done = await Promise.race([work, over]);
  clearTimeout(timer);
  return done;
}
