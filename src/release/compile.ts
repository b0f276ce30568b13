/** From source to one program: for this machine, or for one of the targets. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { author, description, version } from "../../package.json";
import { bundlePage } from "../dashboard/bundle.ts";
import { checkSignature, signProgram } from "./darwin-signature.ts";
import { fetchRuntime } from "./runtime.ts";
import type { BuildTarget } from "./targets.ts";
import { describeProgram } from "./windows-program.ts";

const repo = resolve(import.meta.dir, "../..");

/** How macOS names the program, in consent dialogs for example. */
const darwinIdentifier = "dev.beckon";

/**
 * dbus-next writes an array of bytes byte by byte, each in a buffer of its own: 37,000 for the tray icon, at every change of
 * it. This writes the bytes at once. From source, beckon works without it, only slower.
 */
const writeBytesAtOnce: Bun.BunPlugin = {
  name: "write bytes at once",
  setup(build) {
    build.onLoad({ filter: /dbus-next[\\/]dist[\\/]index\.mjs$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const loop = "for (let i = 0; i < items.length; ++i) write(arrPut, childType, items[i], fds);";
      if (!source.includes(loop)) throw new Error(`${path} has changed: adapt writeBytesAtOnce`);
      const atOnce = "arrPut.put(items)._offset += items.length;";
      const contents = source.replace(
        loop,
        `if (childType.type === "y" && Buffer.isBuffer(items)) ${atOnce} else ${loop}`,
      );
      return { contents, loader: "js" };
    });
  },
};

/** The page is bundled into these files, which the binary contains. */
const pageFiles = {
  html: join(repo, "dist/page/page.html"),
  script: join(repo, "dist/page/page.js"),
  sharedScript: join(repo, "dist/page/shared.js"),
  moreScript: join(repo, "dist/page/more.js"),
  settingsScript: join(repo, "dist/page/settings.js"),
  teamScript: join(repo, "dist/page/team.js"),
  rulesScript: join(repo, "dist/page/rules.js"),
  style: join(repo, "dist/page/page.css"),
  icon: join(repo, "dist/page/icon.svg"),
};

/** Once, before the first program is compiled. */
export async function writePage(): Promise<void> {
  const bundle = await bundlePage();
  for (const [name, path] of Object.entries(pageFiles))
    await Bun.write(path, bundle[name as keyof typeof pageFiles]);
}

/** Puts the bundled page into the binary, in place of the module that bundles it at run time. */
const embedPage: Bun.BunPlugin = {
  name: "embed the page",
  setup(build) {
    build.onLoad({ filter: /src[\\/]dashboard[\\/]files\.ts$/ }, () => {
      const names = Object.keys(pageFiles);
      const imports = Object.entries(pageFiles).map(
        ([name, path]) => `import ${name} from ${JSON.stringify(path)} with { type: "file" };`,
      );
      const files = names.filter((name) => name !== "html").map((name) => `${name}: Bun.file(${name})`);
      const load = `export const loadPage = async () => ({ html: await Bun.file(html).text(), ${files.join(", ")} });`;
      return { contents: [...imports, load].join("\n"), loader: "js" };
    });
  },
};

/**
 * The forwarder in the entry's chunk with all that it imports: a chunk of its own takes a hook 0.3 ms more, and splitting alone puts
 * what it shares with other commands into 13 of them, which takes 1.3 ms of CPU. What it imports only when needed stays apart.
 */
async function bundleHook(plugins: readonly Bun.BunPlugin[]): Promise<Bun.BunPlugin> {
  const keepDynamicImports: Bun.BunPlugin = {
    name: "keep dynamic imports",
    setup(build) {
      build.onResolve({ filter: /^\./ }, ({ kind, path, importer }) =>
        kind === "dynamic-import" ? { path: resolve(dirname(importer), path), external: true } : undefined,
      );
    },
  };
  const { outputs } = await Bun.build({
    entrypoints: [join(repo, "src/hook/index.ts")],
    target: "bun",
    format: "esm",
    plugins: [keepDynamicImports, ...plugins],
  });
  const contents = (await outputs[0]?.text()) ?? "";
  return {
    name: "the hook in the entry",
    setup(build) {
      build.onLoad({ filter: /src[\\/]hook[\\/]index\.ts$/ }, () => ({ contents, loader: "js" }));
      build.onLoad({ filter: /src[\\/]main\.ts$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        const whenNeeded = 'const { hook } = await import("./hook/index.ts");';
        if (!source.includes(whenNeeded)) throw new Error(`${path} has changed: adapt bundleHook`);
        const atOnce = 'import { hook } from "./hook/index.ts";';
        return { contents: `${atOnce}\n${source.replace(whenNeeded, "")}`, loader: "ts" };
      });
    },
  };
}

export interface CompileOptions {
  readonly outfile: string;
  /** null for this machine. */
  readonly target: BuildTarget | null;
  readonly plugins?: readonly Bun.BunPlugin[];
}

export async function compile({ outfile, target, plugins = [] }: CompileOptions): Promise<void> {
  // A failed build leaves nothing behind that could be taken for its result.
  rmSync(outfile, { force: true });
  const system = target?.system ?? process.platform;
  const runtime = target?.system === "windows" ? await makeWindowsRuntime(target) : null;
  await Bun.build({
    entrypoints: [
      join(repo, "src/main.ts"),
      join(repo, "src/history/history-thread.ts"),
      ...(system.startsWith("win") ? [join(repo, "src/desktop/windows/tray-thread.ts")] : []),
    ],
    // Beside the chunks, so that a chunk finds the thread as its source does: by its name alone.
    naming: { entry: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    // One chunk per command: the forwarder starts in 8.5 ms instead of 45.
    splitting: true,
    define: target === null ? {} : { BECKON_TARGET: JSON.stringify(target.name) },
    plugins: [writeBytesAtOnce, embedPage, await bundleHook(plugins), ...plugins],
    compile: {
      ...(target === null ? {} : { target: target.bun }),
      ...(runtime === null ? {} : { executablePath: runtime }),
      outfile,
      // Left on, a hook would run the preloads and read the .env of whatever project it is called in.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (Bun.file(outfile).size === 0) throw new Error(`${outfile} is missing or empty after the build`);
  if (system === "darwin" && target !== null) signForDarwin(outfile);
}

/** Bun's runtime for Windows, with beckon's name, version and icon. */
async function makeWindowsRuntime({ bun, name }: BuildTarget): Promise<string> {
  const path = join(repo, "dist/runtime", `${name}-${Bun.version}-${version}.exe`);
  const details = { version, description, publisher: author };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, describeProgram(readFileSync(await fetchRuntime(bun)), details));
  return path;
}

/** Throws unless every page of the program that is left behind has the hash that its signature says. */
function signForDarwin(path: string): void {
  const unchecked = `${path}.unchecked`;
  renameSync(path, unchecked);
  writeFileSync(unchecked, signProgram(readFileSync(unchecked), darwinIdentifier));
  const { identifier, pages, wrongPages } = checkSignature(readFileSync(unchecked));
  if (wrongPages > 0 || identifier !== darwinIdentifier)
    throw new Error(`the signature of ${path} is wrong: ${wrongPages} of ${pages} pages, as ${identifier}`);
  renameSync(unchecked, path);
}
