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
  // Most follow only some of these, and the first two come with every event.
  let onChange: Required<Follower>["onChange"][] = [];
  let onTransition: Required<Follower>["onTransition"][] = [];

  function update(): void {
    onChange = all.flatMap((follower) => follower.onChange ?? []);
    onTransition = all.flatMap((follower) => follower.onTransition ?? []);
  }

  return {
    add(...followers) {
      all.push(...followers);
      update();
    },
    addFirst(follower) {
      all.unshift(follower);
      update();
    },
    onChange(change) {
      for (const follow of onChange) follow(change);
    },
    onTransition(transition) {
      for (const follow of onTransition) follow(transition);
    },
    onRefresh() {
      for (const follower of all) follower.onRefresh?.();
    },
    onSettingsChanged() {
      for (const follower of all) follower.onSettingsChanged?.();
    },
  };
}
