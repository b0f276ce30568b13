/** Files that programs write, so that two sessions that change them do not get in each other's way. Pure. */

/** Whatever the project ignores does not count either. These are for projects that keep such a folder, or ignore nothing. */
const generatedFolders: ReadonlySet<string> = new Set([
  ...[".git", "node_modules", "bower_components", "dist", "coverage", "__pycache__", "__snapshots__"],
  ...[".venv", "venv", ".tox", ".next", ".nuxt", ".svelte-kit", ".turbo", ".gradle", ".terraform", ".beckon"],
]);

/** Package managers write them at every change of a dependency, and merge them again. */
const lockFiles: ReadonlySet<string> = new Set([
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "go.sum", "go.work.sum"],
  ...[
    "gradle.lockfile",
    "packages.lock.json",
    "project.assets.json",
    "package.resolved",
    ".terraform.lock.hcl",
  ],
]);

const generatedNames =
  /\.(?:lock|min\.js|min\.css|map|tsbuildinfo|pyc|snap)$|\.generated\.|_pb2\.py$|\.pb\.go$/;

export function isGenerated(path: string): boolean {
  const segments = path.toLowerCase().split("/");
  const name = segments.pop() ?? "";
  return (
    lockFiles.has(name) || generatedNames.test(name) || segments.some((one) => generatedFolders.has(one))
  );
}
