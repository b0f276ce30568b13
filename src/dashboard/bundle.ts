/** Bundles the page for browsers: build.ts does it once for the binary, and a beckon that runs from source at the first use. */
import { basename, join } from "node:path";

const folder = join(import.meta.dir, "page");

export interface PageBundle {
  readonly html: string;
  readonly script: string;
  /** What `script` and `moreScript` share. The page's HTML names it first, so that its hash is checked before another file imports it. */
  readonly sharedScript: string;
  /** The history, the details of a session, the settings, the team and the rules are parts of their own, because most visits do not open them. */
  readonly moreScript: string;
  readonly settingsScript: string;
  readonly teamScript: string;
  readonly rulesScript: string;
  readonly style: string;
  readonly icon: string;
}

export async function bundlePage(): Promise<PageBundle> {
  const [[script, moreScript, sharedScript], settingsScript, teamScript, rulesScript, style, html, icon] =
    await Promise.all([
      bundleTogether("main.tsx", "more.tsx"),
      bundle("settings.tsx"),
      bundle("team.tsx"),
      bundle("rules.tsx"),
      bundle("page.css"),
      Bun.file(join(folder, "page.html")).text(),
      Bun.file(join(import.meta.dir, "../../assets/beckon.svg")).text(),
    ]);
  const hashed = addHashes(html, {
    script,
    shared: sharedScript,
    more: moreScript,
    settings: settingsScript,
    team: teamScript,
    rules: rulesScript,
    style,
  });
  const parts = { moreScript, settingsScript, teamScript, rulesScript };
  return { html: hashed, script, sharedScript, ...parts, style, icon };
}

/** The browser refuses other files, such as those that another program at beckon's port has left in its cache. */
function addHashes(html: string, files: Readonly<Record<string, string>>): string {
  const hash = (text: string) => `sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}`;
  return Object.entries(files).reduce(
    (text, [name, file]) => text.replace(`{{${name}-hash}}`, hash(file)),
    html,
  );
}

const options = {
  target: "browser",
  format: "esm",
  minify: true,
  // From source, Bun would otherwise choose the development build of packages.
  define: { "process.env.NODE_ENV": '"production"' },
} as const satisfies Partial<Bun.BuildConfig>;

async function bundle(entry: string): Promise<string> {
  const { outputs } = await Bun.build({ ...options, entrypoints: [join(folder, entry)] });
  const [output] = outputs;
  if (!output) throw new Error(`${entry} was not bundled`);
  return output.text();
}

/** Bundles what two scripts share into one of its own, which both import. */
async function bundleTogether(first: string, second: string): Promise<readonly [string, string, string]> {
  const { outputs } = await Bun.build({
    ...options,
    entrypoints: [first, second].map((entry) => join(folder, entry)),
    splitting: true,
    naming: { entry: "[name].js", chunk: "shared.js" },
  });
  const read = async (name: string): Promise<string> => {
    const output = outputs.find(({ path }) => basename(path) === name.replace(/tsx$/, "js"));
    if (!output) throw new Error(`${name} was not bundled`);
    return output.text();
  };
  if (outputs.length !== 3) throw new Error(`${first} and ${second} make ${outputs.length} files`);
  return [await read(first), await read(second), await shorten(await read("shared.js"))];
}

/** Bun gives no one-letter names inside of what is shared: once more, and it is 4 kB smaller. */
async function shorten(script: string): Promise<string> {
  const { outputs } = await Bun.build({
    ...options,
    entrypoints: ["/shared.js"],
    files: { "/shared.js": script },
  });
  return outputs[0]?.text() ?? script;
}
