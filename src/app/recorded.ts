/** How far other machines were followed, as far as the history has that: what it does not have must be asked for again after a kill. */
import type { History } from "../history/index.ts";

/** Takes the value now, and gives it on once the history has everything up to now. One at a time, and the newest last. */
export function createRecordedValue<Value>(
  whenRecorded: History["whenRecorded"],
  take: () => Value,
  onRecorded: (value: Value) => void,
): () => void {
  let isWaiting = false;
  let hasChanged = false;
  return function update() {
    hasChanged = isWaiting;
    if (isWaiting) return;
    isWaiting = true;
    const value = take();
    whenRecorded(() => {
      isWaiting = false;
      onRecorded(value);
      if (hasChanged) update();
    });
  };
}
