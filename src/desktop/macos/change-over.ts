/** Where the child does not stay up, an icon or an alert is shown in another way, if there is one. */
interface OtherWay<Other> {
  readonly name: string;
  readonly open: () => Promise<Other | null>;
  readonly onProblem: (text: string) => void;
  /** For people: that it is used now, and that there is none. */
  readonly words: { readonly used: string; readonly none: string };
  readonly isStopped: () => boolean;
  readonly use: (other: Other) => void;
}

export async function changeOver<Other extends { stop(): Promise<void> }>(
  way: OtherWay<Other>,
): Promise<void> {
  const opened = await way.open().catch((error: unknown) => {
    way.onProblem(`${way.name} could not be started: ${error}`);
    return null;
  });
  if (opened === null) return way.onProblem(way.words.none);
  if (way.isStopped()) return opened.stop();
  way.onProblem(way.words.used);
  way.use(opened);
}
