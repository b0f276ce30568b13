/** The notes of a release: its section of CHANGELOG.md. Pure. */

/** Throws if the changelog has no such version. */
export function cutNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((section) => section.startsWith("## ") && section.split(/\s/)[1] === version);
  if (!found) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return `${found.replace(/^.*\n/, "").trim()}\n`;
}
