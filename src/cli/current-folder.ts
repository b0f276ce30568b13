/** null: it is gone. */
export function currentFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}
