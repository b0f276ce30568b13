/** Loads collisions.ts once two sessions have edited something: until then there is nothing that could collide. */
import type { SessionChange } from "../core/interfaces/index.ts";
import type { SharedFile } from "../core/session/event.ts";
import type { Session } from "../core/session/session.ts";
import { type SessionRefLike, sessionKeyOf } from "../core/session/session-ref.ts";
import type { CollisionOptions, Collisions } from "./collisions.ts";

export interface CollisionFollower extends Collisions {
  start(): void;
}

export function createCollisionFollower(
  options: Omit<CollisionOptions, "readFile" | "readChange">,
): CollisionFollower {
  /** Live sessions that have edited something, until the rest is loaded. */
  const editing = new Set<string>();
  let loading: Promise<Collisions> | null = null;
  let loaded: Collisions | null = null;
  let isStopped = false;

  async function load(): Promise<Collisions> {
    const [{ createCollisions }, { createChangeReader, createFileReader }, { exec }] = await Promise.all([
      import("./collisions.ts"),
      import("./git.ts"),
      import("../system/exec.ts"),
    ]);
    loaded = createCollisions({
      ...options,
      readFile: createFileReader(exec),
      readChange: createChangeReader(exec),
    });
    if (isStopped) loaded.stop();
    return loaded;
  }

  function follow(session: Session): void {
    if (session.edits.length === 0) return;
    editing.add(sessionKeyOf(session));
    if (editing.size > 1) loading ??= load();
  }

  return {
    start() {
      for (const session of options.sessions()) {
        follow(session);
        // Whether it still does has to be found out.
        if (session.sharedFiles.length > 0) loading ??= load();
      }
    },
    onChange(change: SessionChange) {
      const { session, before } = change;
      if (loaded) loaded.onChange(change);
      else if (session.edits !== before?.edits) {
        if (session.ended) editing.delete(sessionKeyOf(session));
        else follow(session);
      }
    },
    forget(key) {
      editing.delete(key);
      loaded?.forget(key);
    },
    async findOthers(session: SessionRefLike, paths: readonly string[]): Promise<SharedFile[]> {
      const own = sessionKeyOf(session);
      if (loading === null && ![...editing].some((key) => key !== own)) return [];
      loading ??= load();
      return (await loading).findOthers(session, paths);
    },
    async showChange(path, others) {
      loading ??= load();
      return (await loading).showChange(path, others);
    },
    stop() {
      isStopped = true;
      loaded?.stop();
    },
  };
}
