/** Everything that follows the state, in the order in which it was added. Publishers do not know who follows. */
import type { Sink } from "../core/interfaces/index.ts";

export type Follower = Pick<Sink, "onChange" | "onTransition" | "onRefresh" | "onSettingsChanged">;

export interface Followers extends Required<Follower> {
  add(...followers: readonly Follower[]): void;
}

export function createFollowers(): Followers {
  const all: Follower[] = [];
  return {
    add: (...followers) => void all.push(...followers),
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
