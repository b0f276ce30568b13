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
  if (project != null) words.push(nameProject(project));
  if (provider !== undefined) words.push(nameAgent(provider));
  if (kind !== undefined) words.push(nameKind(kind));
  if (key !== undefined) words.push(nameSession(key));
  return words;
}

const nameProject = createWordMaker("_p");
const nameAgent = createWordMaker("_a");
const nameKind = createWordMaker("_k");
const nameSession = createWordMaker("_s");

const maxKnownWords = 2_000;

/** The same few values come with every item. They are looked up as they are: to join them to a name would cost more. */
function createWordMaker(prefix: string): (value: string) => string {
  const words = new Map<string, string>();
  return (value) => {
    const known = words.get(value);
    if (known !== undefined) return known;
    if (words.size >= maxKnownWords) words.clear();
    const word = `${prefix}_${Bun.hash(value).toString(36)}`;
    words.set(value, word);
    return word;
  };
}

/** A colour code before a word would become a part of it. */
export function toSearchText(text: string, fields: FilterFields): string {
  const plain = text.includes("\u001b") ? Bun.stripANSI(text) : text;
  return `${plain} ${createFilterWords(fields).join(" ")}`;
}
