/** Filling the files that package managers read. Pure. */

export type TemplateValues = Readonly<Record<string, string>>;

/** Replaces every `{{name}}`. Throws if one is unknown, so that no file is published with a gap. */
export function fillTemplate(text: string, values: TemplateValues): string {
  return text.replace(/\{\{([^{}]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the template has an unknown {{${name}}}`);
    return value;
  });
}
