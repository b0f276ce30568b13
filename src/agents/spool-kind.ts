/** What a full spool does with an event, by the event's name. No imports: the forwarder loads it at every hook. */

export type SpoolKinds = Readonly<Record<string, "ask" | "end" | "tool">>;

/** Events that are not named in the table are dropped first. */
export const findSpoolKind = (kinds: SpoolKinds, name: unknown): "ask" | "end" | "tool" | "other" =>
  (typeof name === "string" && Object.hasOwn(kinds, name) ? kinds[name] : undefined) ?? "other";
