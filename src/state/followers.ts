/** Everything that follows the state, in the order in which it was added. Publishers do not know who follows. */
import type { Sink, Transition } from "../core/interfaces/index.ts";
import { parseSessionKey } from "../core/session/session-ref.ts";

export type Follower = Pick<Sink, "onChange" | "onTransition" | "onRefresh" | "onSettingsChanged">;

export interface Followers extends Required<Follower> {
  add(...followers: readonly Follower[]): void;
  /** Before all others: what it does of a change reaches the user last, on another machine. */
  addFirst(follower: Follower): void;
}

/** Follows only sessions of this machine: those of others are recorded and watched there. */
export function ofOwnSessions(follower: Follower): Follower {
  const { onChange, onTransition } = follower;
  return {
    ...follower,
    ...(onChange && {
      onChange(change) {
        if (change.session.machine === null) onChange(change);
      },
    }),
    ...(onTransition && {
      onTransition(transition) {
        if (machineOf(transition) === null) onTransition(transition);
      },
    }),
  };
}

const machineOf = (transition: Transition): string | null =>
  "session" in transition ? transition.session.machine : (parseSessionKey(transition.key)?.machine ?? null);

export function createFollowers(): Followers {
  const all: Follower[] = [];
  return {
    add: (...followers) => void all.push(...followers),
    addFirst: (follower) => void all.unshift(follower),
    onChange(change) {
      for (const follower of all) follower.onChange?.(change);
    },
    onTransition(transition) {
      for (const follower of all) follower.onTransition?.(transition);
    },
    onRefresh() {
      for (const follower of all) follower.onRefresh?.();
    },
    onSettingsChanged() {
      for (const follower of all) follower.onSettingsChanged?.();
    },
  };
}
