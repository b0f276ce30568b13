/** The text of an item in the search index: the item's own text, and a word for each field that can be filtered by. */

interface FilterFields {
  readonly project?: string | null | undefined;
  readonly provider?: string | undefined;
  readonly kind?: string | undefined;
  readonly key?: string | undefined;
}

/** Words of the search index that stand for a project, an agent, a kind or a session. Nobody types them. */
export function createFilterWords({ project, provider, kind, key }: FilterFields): string[] {
  const words: string[] = [];
  if (project != null) words.push(createFilterWord("_p", project));
  if (provider !== undefined) words.push(createFilterWord("_a", provider));
  if (kind !== undefined) words.push(createFilterWord("_k", kind));
  if (key !== undefined) words.push(createFilterWord("_s", key));
  return words;
}

const filterWords = new Map<string, string>();
const maxFilterWords = 5_000;

function createFilterWord(prefix: string, value: string): string {
  const name = prefix + value;
  const known = filterWords.get(name);
  if (known !== undefined) return known;
  if (filterWords.size >= maxFilterWords) filterWords.clear();
  const word = `${prefix}_${Bun.hash(value).toString(36)}`;
  filterWords.set(name, word);
  return word;
}

/** A colour code before a word would become a part of it. */
export function toSearchText(text: string, fields: FilterFields): string {
  const plain = text.includes("\u001b") ? Bun.stripANSI(text) : text;
  return `${plain} ${createFilterWords(fields).join(" ")}`;
}
