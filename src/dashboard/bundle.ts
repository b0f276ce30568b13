/** Bundles the page for browsers: build.ts does it once for the binary, and a beckon that runs from source at the first use. */
import { join } from "node:path";

const folder = join(import.meta.dir, "page");

export interface PageBundle {
  readonly html: string;
  readonly script: string;
  /** The settings panel: a part of its own, because most visits do not open it. */
  readonly settingsScript: string;
  readonly style: string;
  readonly icon: string;
}

export async function bundlePage(): Promise<PageBundle> {
  const [script, settingsScript, style, html, icon] = await Promise.all([
    bundle("main.tsx"),
    bundle("settings.tsx"),
    bundle("page.css"),
    Bun.file(join(folder, "page.html")).text(),
    Bun.file(join(import.meta.dir, "../../assets/beckon.svg")).text(),
  ]);
  const hashed = addHashes(html, { script, settings: settingsScript, style });
  return { html: hashed, script, settingsScript, style, icon };
}

/** The browser refuses other files, such as those that another program at beckon's port has left in its cache. */
function addHashes(html: string, files: Readonly<Record<string, string>>): string {
  const hash = (text: string) => `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
  return Object.entries(files).reduce(
    (text, [name, file]) => text.replace(`{{${name}-hash}}`, hash(file)),
    html,
  );
}

async function bundle(entry: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(folder, entry)],
    target: "browser",
    format: "esm",
    minify: true,
    // From source, Bun would otherwise choose the development build of packages.
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (!output) throw new Error(`${entry} was not bundled`);
  return output.text();
}
