/**
 * Labelled texts: secrets as they occur in commands, files and prose, and harmless text that resembles them. All secrets are
 * random and belong to no account. They are stored in two parts, so that secret scanners do not report the files.
 */

import first from "./corpus.json";
import contexts from "./corpus-contexts.json";
import formats from "./corpus-formats.json";

interface Entry {
  readonly kind?: string;
  readonly before?: string;
  readonly secret?: readonly string[];
  readonly after?: string;
  readonly text?: string;
}

interface LabelledSecret {
  readonly kind: string;
  readonly text: string;
  readonly secret: string;
}

const splitEntries = (name: string, entries: readonly Entry[]) => ({
  name,
  secrets: entries.flatMap(({ kind = "", before = "", secret, after = "" }): LabelledSecret[] => {
    if (secret === undefined) return [];
    return [{ kind, text: before + secret.join("") + after, secret: secret.join("") }];
  }),
  harmless: entries.flatMap(({ text }) => (text === undefined ? [] : [text])),
});

export const corpora = [
  splitEntries("secrets as they occur in practice", first),
  splitEntries("formats of many services", formats),
  splitEntries("secrets in files, code, commands and prose", contexts),
];
