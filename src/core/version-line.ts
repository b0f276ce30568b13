/** The version in what `beckon --version` prints; null if the text is not beckon's. */
export const parseVersionLine = (text: string): string | null =>
  /^beckon (\d+\.\d+\.\d+\S{0,40})\s*$/.exec(text)?.[1] ?? null;
