/**
 * bun build.ts                  dist/beckon, for this machine
 * bun build.ts --all            dist/beckon-<system>-<cpu>[.exe], for every system
 * bun build.ts --target NAME…   the same for some of them
 * bun build.ts --for-tests      dist/test/beckon, which takes HOME for the user's home folder
 */
import { rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "./package.json";
import { bundlePage } from "./src/dashboard/bundle.ts";
import { followHome } from "./test/follow-home.ts";

/** Baseline builds run on x64 processors without AVX2 too. */
const targets = {
  "linux-x64": "bun-linux-x64-baseline",
  "linux-arm64": "bun-linux-arm64",
  "darwin-arm64": "bun-darwin-arm64",
  "darwin-x64": "bun-darwin-x64",
  "windows-x64": "bun-windows-x64-baseline",
} as const satisfies Record<string, Bun.Build.CompileTarget>;

type Target = keyof typeof targets;

const inRepo = (path: string): string => new URL(path, import.meta.url).pathname;

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
      if (!source.includes(loop)) throw new Error(`${path} has changed: adapt writeBytesAtOnce in build.ts`);
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
  html: inRepo("dist/page/page.html"),
  script: inRepo("dist/page/page.js"),
  sharedScript: inRepo("dist/page/shared.js"),
  moreScript: inRepo("dist/page/more.js"),
  settingsScript: inRepo("dist/page/settings.js"),
  style: inRepo("dist/page/page.css"),
  icon: inRepo("dist/page/icon.svg"),
};

async function writePage(): Promise<void> {
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
 * The forwarder as one chunk with all that it imports. Splitting alone puts what it shares with other commands into chunks of
 * their own, 13 of them, and loading those takes a hook 1.3 ms of CPU. What it imports only when needed stays apart.
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
    entrypoints: [inRepo("src/hook/index.ts")],
    target: "bun",
    format: "esm",
    plugins: [keepDynamicImports, ...plugins],
  });
  const contents = (await outputs[0]?.text()) ?? "";
  return {
    name: "the hook as one chunk",
    setup(build) {
      build.onLoad({ filter: /src[\\/]hook[\\/]index\.ts$/ }, () => ({ contents, loader: "js" }));
    },
  };
}

async function build(
  outfile: string,
  target: Bun.Build.CompileTarget | null,
  plugins: readonly Bun.BunPlugin[] = [],
): Promise<void> {
  const started = performance.now();
  // A failed build leaves nothing behind that could be taken for its result.
  rmSync(inRepo(outfile), { force: true });
  const isForWindows = target === null ? process.platform === "win32" : target.startsWith("bun-windows");
  await Bun.build({
    entrypoints: [
      inRepo("src/main.ts"),
      inRepo("src/history/history-thread.ts"),
      ...(isForWindows ? [inRepo("src/desktop/windows/tray-thread.ts")] : []),
    ],
    // Beside the chunks, so that a chunk finds the thread as its source does: by its name alone.
    naming: { entry: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    // One chunk per command: the forwarder starts in 8.5 ms instead of 45.
    splitting: true,
    plugins: [writeBytesAtOnce, embedPage, await bundleHook(plugins), ...plugins],
    compile: {
      ...(target === null ? {} : { target }),
      outfile: inRepo(outfile),
      // Left on, a hook would run the preloads and read the .env of whatever project it is called in.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  const megabytes = (Bun.file(inRepo(outfile)).size / 1e6).toFixed(1);
  if (megabytes === "0.0") throw new Error(`${outfile} is missing or empty after the build`);
  console.log(`${outfile}  ${megabytes} MB  ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

/** The one binary that can be run here is: a build that does not start is no build. */
function proveItStarts(outfile: string): void {
  const { stdout, stderr, exitCode } = Bun.spawnSync([inRepo(outfile), "--version"], { timeout: 10_000 });
  if (exitCode !== 0 || !stdout.toString().includes(version)) {
    throw new Error(`${outfile} --version does not say ${version}:\n${stdout}${stderr}`);
  }
}

const isTarget = (name: string): name is Target => Object.hasOwn(targets, name);

const { values } = parseArgs({
  options: {
    all: { type: "boolean" },
    target: { type: "string", multiple: true },
    "for-tests": { type: "boolean" },
  },
});

function wanted(): Target[] {
  const names = values.all ? Object.keys(targets) : (values.target ?? []);
  return names.map((name) => {
    if (isTarget(name)) return name;
    throw new Error(`unknown target ${name}: use one of ${Object.keys(targets).join(", ")}`);
  });
}

try {
  const chosen = wanted();
  await writePage();
  for (const name of chosen) {
    await build(`dist/beckon-${name}${name.startsWith("windows") ? ".exe" : ""}`, targets[name]);
  }
  if (chosen.length === 0) {
    const name = process.platform === "win32" ? "beckon.exe" : "beckon";
    const outfile = values["for-tests"] ? `dist/test/${name}` : `dist/${name}`;
    await build(outfile, null, values["for-tests"] ? [followHome] : []);
    proveItStarts(outfile);
  }
} catch (error) {
  const reasons = error instanceof AggregateError ? error.errors : [error];
  for (const reason of reasons) console.error(`build failed: ${reason}`);
  process.exit(1);
}
