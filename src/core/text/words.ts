/** English around a word: capitals, plurals, lists. */

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** "1 ask", "3 asks" */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `a, b and c` */
export const formatList = (items: readonly string[]): string => new Intl.ListFormat("en-GB").format(items);

/** "a, b or c" */
export const formatChoices = (items: readonly string[]): string =>
  new Intl.ListFormat("en-GB", { type: "disjunction" }).format(items);
