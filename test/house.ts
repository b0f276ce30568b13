/** The rules of the house: who may import whom, and what pure code may not touch. */
import { dirname, join } from "node:path";

/** Path from the repo's root → source text. */
export type Files = ReadonlyMap<string, string>;

export interface Import {
  /** A path from the repo's root, or a package's name. */
  readonly to: string;
  /** "macro": run when beckon is built. "unknown": import() of something that only the running program knows. */
  readonly how: "static" | "type" | "macro" | "dynamic" | "unknown";
  /** `{ createHash }`, as it is written. */
  readonly names: string;
}

const statement =
  /^(?:import|export)\s+(type\s)?([^;"]*?)\bfrom\s+"([^"]+)"( with \{ type: "macro" \})?|^import\s+"([^"]+)"|\bimport\(\s*([^)\s]*)/gm;

export function importsOf(path: string, source: string): Import[] {
  const code = source.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  return [...code.matchAll(statement)].map(([, type, names = "", from, macro, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic?.replaceAll(/[",]/g, "") ?? "";
    const to = specifier.startsWith(".") ? join(dirname(path), specifier) : specifier;
    const how = macro === undefined ? howOf(type, dynamic) : "macro";
    return { to, how, names: names.trim() };
  });
}

function howOf(type: string | undefined, dynamic: string | undefined): Import["how"] {
  if (dynamic !== undefined) return dynamic.startsWith('"') ? "dynamic" : "unknown";
  return type === undefined ? "static" : "type";
}

/** The folder of src that a file belongs to; inside core, the folder within it. */
function roomOf(path: string): string {
  const [top, name, inside, deeper] = path.split("/");
  if (top !== "src") return path.endsWith(".ts") ? path : "data";
  if (inside === undefined) return (name ?? "").replace(".ts", "");
  if (name === "core" && deeper !== undefined) return `core/${inside}`;
  return name ?? "";
}

/** Each level may import the levels above it in this list, and itself. Rooms of one level do not import each other. */
const levels: readonly (readonly string[])[] = [
  ["core"],
  ["core/text"],
  ["core/session"],
  ["core/answers"],
  ["core/config"],
  ["core/terminals"],
  ["core/view"],
  ["core/interfaces"],
  ["secrets", "shell"],
  ["storage"],
  ["system"],
  ["user-files"],
  ["agents"],
  ["state"],
  ["preferences", "streams", "rules"],
  ["ingest", "watch", "answers", "prompts", "alerts", "history", "api", "dashboard"],
  ["desktop", "channels", "workguard", "setup", "hook", "machines"],
  ["update"],
  ["app"],
  ["cli"],
  // Makes releases, and is not part of the program: it reads the commands for the manual page and the completions.
  ["release"],
];

/** The one file of system that storage needs: timers. It needs nothing of storage. */
const timers = "src/system/schedule.ts";

const levelOf = (room: string): number => levels.findIndex((rooms) => rooms.includes(room));

function mayImport(from: string, to: string): boolean {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (target === "data") return !room.startsWith("core");
  // Bun's runtime for Windows gets the icon as it is drawn.
  if (room === "release" && to.startsWith("assets/drawing/")) return true;
  if (room === "main") return target === "cli" || target === "hook";
  if (room === target || (room === "storage" && to === timers)) return true;
  return levelOf(target) >= 0 && levelOf(target) < levelOf(room);
}

/** An agent's folder is pure but for what watches and sets it up. */
const isPure = (path: string): boolean =>
  /^src\/(?:core|shell|secrets)\//.test(path) ||
  (path.startsWith("src/agents/") && !/\/(?:watch|setup)\//.test(path));
const isFile = (to: string): boolean => /\.(ts|tsx|json|html|css|sh|png|ico|exe)$/.test(to);

/** Pure functions of packages that pure code may use: hashes and schemas. */
const isPurePackage = (to: string, names: string): boolean =>
  (to === "node:crypto" && names === "{ createHash }") ||
  /^@sinclair\/typebox(?:\/value|\/errors)?$/.test(to);

/** What the page may import: itself, core, which knows no system, and its two packages. */
const mayRunInBrowser = (to: string): boolean =>
  /^src\/(?:dashboard\/page|core)\//.test(to) || /^(?:preact|preact\/hooks|@preact\/signals)$/.test(to);

export function wrongImports(files: Files): string[] {
  return [...files].flatMap(([path, source]) =>
    importsOf(path, source).flatMap((found) => {
      const wrong = whatIsWrong(path, found);
      return wrong === null ? [] : [`${path} ${wrong}`];
    }),
  );
}

function whatIsWrong(path: string, { to, how, names }: Import): string | null {
  const room = roomOf(path);
  if (how === "unknown") return `imports something only known at run time: ${to}`;
  if (path.startsWith("src/dashboard/page/") && !mayRunInBrowser(to))
    return `runs in browsers and imports ${to}`;
  if (!isFile(to)) return isPure(path) && !isPurePackage(to, names) ? `is pure and imports ${to}` : null;
  if (room === "main" && how === "static" && roomOf(to) !== "data")
    return `loads ${to} before a verb needs it`;
  return mayImport(path, to) ? null : `imports ${to}`;
}

export const unknownRooms = (files: Files): string[] =>
  [...files.keys()].filter((path) => roomOf(path) !== "main" && levelOf(roomOf(path)) < 0);

export const createTranspiler = (path: string): Bun.Transpiler =>
  new Bun.Transpiler({ loader: path.endsWith(".tsx") ? "tsx" : "ts" });

/** A macro would be run, and its file is not found from here. */
export const transpile = (path: string, source: string): string =>
  createTranspiler(path).transformSync(source.replaceAll(' with { type: "macro" }', ""));

const impure =
  /\bDate\.now\b|\bnew Date\b(?:\(\)|(?!\())|\bperformance\.|\bMath\.random\b|\bcrypto\.|\bprocess\.|\bBun\.\w+|\bset(?:Timeout|Interval|Immediate)\(|\bfetch\(|\bconsole\./g;

export function impurities(files: Files): string[] {
  return [...files]
    .filter(([path]) => isPure(path))
    .flatMap(([path, source]) =>
      // Transpiled, so that comments and types may say these words.
      [...transpile(path, source).matchAll(impure)]
        .map(([word]) => word)
        .filter((word) => word !== "Bun.hash" && word !== "Bun.SHA256")
        .map((word) => `${path} is pure and uses ${word}`),
    );
}

/** Every file that is loaded once `start` is, in the order it is met. Types load nothing. */
export function loadedWith(files: Files, start: string): Import[] {
  const met = new Map<string, Import>();
  const visit = (path: string): void => {
    for (const found of importsOf(path, files.get(path) ?? "")) {
      if (found.how !== "static" || met.has(found.to)) continue;
      met.set(found.to, found);
      visit(found.to);
    }
  };
  visit(start);
  return [...met.values()];
}

/**
 * The forwarder runs at every tool call of every agent, so users wait for what it loads. Its usual path loads no node: modules
 * (node:fs takes 1.4 ms); its other files may.
 */
export function heavyInForwarder(files: Files): string[] {
  const light = ["hook", "storage", "system", "core", "data"];
  const isLight = (path: string) =>
    light.includes(roomOf(path)) || isAgentTable(path) || smallAndPure.has(path);
  const mayLoad = (path: string, to: string) =>
    isFile(to) ? isLight(to) : to.startsWith("node:") && path !== "src/hook/index.ts";
  return [...files.keys()]
    .filter((path) => path.startsWith("src/hook/"))
    .flatMap((path) =>
      loadedWith(files, path)
        .filter(({ to }) => !mayLoad(path, to))
        .map(({ to }) => `${path} loads ${to}`),
    );
}

/** They load no others than each other. */
const smallAndPure: ReadonlySet<string> = new Set([
  "src/core/terminals/sent-variables.ts",
  "src/core/text/json-text.ts",
  "src/core/text/paths.ts",
  "src/core/text/truncate.ts",
  "src/core/text/words.ts",
  "src/core/config/work-guard.ts",
  "src/agents/edits.ts",
  "src/agents/patch.ts",
]);

/** The table of agents and the part of each agent that the forwarder needs. */
const isAgentTable = (path: string): boolean =>
  /^src\/agents\/(?:index|callers|hook-forwarding|\w+\/forwarding)\.ts$/.test(path);

export function cycles(files: Files): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (trail.includes(path) || done.has(path)) return;
    for (const { to } of importsOf(path, files.get(path) ?? "")) visit(to, [...trail, path]);
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return found;
}

/** `new Promise((resolve) => setTimeout(resolve, 50))` is a sleep too; a timer that does something else is not. */
const fixedSleep =
  /\bBun\.sleep(?:Sync)?\(|["']node:timers\/promises["']|\bsetTimeout\(\s*(?:resolve|done|\(\)\s*=>\s*resolve\(\))\s*,/;

/** Files of test/ that may sleep by themselves. */
const maySleep = (path: string): boolean =>
  // The tool itself, and the test of this rule.
  /^test\/(?:wait-until|house\.test)\.ts$/.test(path) ||
  // Benches measure what happens in a span of time, and films and pictures are made for people.
  /^test\/(?:bench\/|agent\/animation\.ts|desktop\/pictures\.ts)/.test(path) ||
  // Keeps a lock in a callback that cannot wait.
  path === "test/fixtures/settings-writer.ts";

/** A fixed sleep is too long on a quick machine and too short on a busy one: tests wait with test/wait-until.ts. */
export const fixedSleeps = (files: Files): string[] =>
  [...files].flatMap(([path, source]) =>
    !maySleep(path) && fixedSleep.test(transpile(path, source)) ? [path] : [],
  );

/** An agent's own folder, and the tables that list it. */
const isOfAgents = (path: string, id: string): boolean =>
  path.startsWith(`src/agents/${id}/`) ||
  /^src\/agents\/(?:index|callers)\.ts$/.test(path) ||
  // Kilo is a fork of opencode.
  (id === "opencode" && path.startsWith("src/agents/kilo/")) ||
  // Antigravity CLI keeps its files in Gemini CLI's folder.
  (id === "gemini" && path === "src/agents/setup/former.ts");

/** Lists of the world's programs and editors. Some agents are among them, and nothing there treats them as agents. */
const isListOfPrograms = (path: string): boolean =>
  /^src\/(?:shell\/dangers\/(?:service-programs|remote-programs|verbs)|core\/terminals\/window-only)\.ts$/.test(
    path,
  );

/** Code outside of an agent's folder that names the agent. Comments may: they quote what was measured. */
export function namedAgents(files: Files, ids: readonly string[]): string[] {
  return [...files].flatMap(([path, source]) => {
    const code = transpile(path, source).toLowerCase();
    const isExempt = (id: string) => isOfAgents(path, id) || isListOfPrograms(path);
    return ids.filter((id) => !isExempt(id) && code.includes(id)).map((id) => `${path} names ${id}`);
  });
}
