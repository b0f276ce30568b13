/** The values of JSON lines: of a file, or of what a command printed. Throws at a line that is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: the test knows what the lines are.
export const parseJsonLines = <Value = any>(text: string): Value[] =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
