/** Wine in Xvfb, with a taskbar, a mouse and a folder that is removed at the end. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildFor, trayThreadSource } from "../repo.ts";

/** Debian's wine64 is not on the PATH. */
const wine = Bun.which("wine64") ?? Bun.which("wine") ?? "/usr/lib/wine/wine64";
const wineserver = Bun.which("wineserver") ?? "/usr/lib/wine/wineserver64";
const compiler = "x86_64-w64-mingw32-gcc";
export const wineNeeds = ["linux", wine, compiler, "Xvfb"] as const;
export const mouseNeeds = ["xdotool", "scrot"] as const;
export const hasWine = [wine, compiler, "Xvfb"].every((name) => Bun.which(name) !== null);

const commandTimeoutMs = 60_000;
const idleProgram = "beckon-idle.exe";
const screen = { width: 900, height: 600 };

/** A desktop with a taskbar, in one X window. */
const desktopInRegistry = `
[Software\\\\Wine\\\\Explorer]
"Desktop"="shell"

[Software\\\\Wine\\\\Explorer\\\\Desktops]
"shell"="${screen.width}x${screen.height}"
`;

export type Wine = Awaited<ReturnType<typeof createWine>>;

function createEnvironment(prefix: string, display: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: dirname(prefix),
    DISPLAY: display,
    WINEPREFIX: prefix,
    WINEDEBUG: "-all",
    WINEDLLOVERRIDES: "mscoree,mshtml=",
  };
}

async function runCommand(argv: string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(argv, {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: commandTimeoutMs,
  });
  const [code, stdout, stderr] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
}

/** Does nothing if Wine does not run. */
async function stopWine(env: Record<string, string>): Promise<void> {
  await runCommand([wineserver, "--kill"], env).catch(() => {});
  await runCommand([wineserver, "--wait"], env).catch(() => {});
}

/** Wine takes 10 s to create a prefix, so all test files copy this one. */
async function createTemplate(display: string): Promise<string> {
  const version = Bun.spawnSync([wine, "--version"]).stdout.toString().trim();
  const folder = join(
    tmpdir(),
    `beckon-wine-prefix-${process.getuid?.()}-${version.replace(/[^\w.-]+/g, "_")}`,
  );
  const ready = join(folder, "prefix");
  if (existsSync(ready)) return ready;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const unfinished = mkdtempSync(join(folder, "unfinished-"));
  const prefix = join(unfinished, "prefix");
  const env = createEnvironment(prefix, display);
  await runCommand([wine, "wineboot", "--init"], env);
  await stopWine(env);
  appendFileSync(join(prefix, "user.reg"), desktopInRegistry);
  replaceCopiesByLinks(prefix);
  const sources = join(import.meta.dir, "../fixtures/wine");
  const system = join(prefix, "drive_c/windows/system32");
  const dll = "bcryptprimitives";
  const building = [compiler, "-shared", "-o", join(system, `${dll}.dll`), join(sources, `${dll}.c`)];
  await runCommand([...building, "-ladvapi32"], env);
  await runCommand([compiler, "-mwindows", "-o", join(system, idleProgram), join(sources, "idle.c")], env);
  renameSync(prefix, ready);
  rmSync(unfinished, { recursive: true, force: true });
  return ready;
}

/** Wine fills each prefix with copies of installed files, 700 MB in all. */
function replaceCopiesByLinks(prefix: string): void {
  const installed = [...new Bun.Glob("/usr/lib/*/wine/x86_64-windows/ntdll.dll").scanSync("/")][0];
  if (installed === undefined) return;
  const windows = join(prefix, "drive_c/windows");
  for (const path of new Bun.Glob("**/*").scanSync({ cwd: windows, absolute: true })) {
    const original = join(dirname(installed), path.slice(path.lastIndexOf("/") + 1));
    const { size } = lstatSync(path);
    if (statSync(original, { throwIfNoEntry: false })?.size !== size) continue;
    rmSync(path);
    symlinkSync(original, path);
  }
}

async function startScreen(): Promise<{ display: string; stop: () => Promise<void> }> {
  const size = `${screen.width}x${screen.height}x24`;
  const server = Bun.spawn(
    ["Xvfb", "-displayfd", "1", "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
    {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    },
  );
  const stop = async () => {
    server.kill();
    await server.exited;
  };
  // The reader must stay open: Xvfb ends if the pipe is closed.
  const { value } = await server.stdout.getReader().read();
  const number = /^\d+/.exec(new TextDecoder().decode(value))?.[0];
  if (number === undefined) throw new Error("Xvfb did not start");
  return { display: `:${number}`, stop };
}

/** Compiles a program for Windows, with the tray's thread as a second entry point like build.ts. */
export async function compileForWindows(entry: string, outfile: string): Promise<void> {
  await Bun.build({
    entrypoints: [entry, trayThreadSource],
    naming: { entry: "[name].[ext]" },
    target: "bun",
    format: "esm",
    minify: true,
    bytecode: true,
    splitting: true,
    compile: { target: "bun-windows-x64-baseline", outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
}

/** Builds the Windows binary and copies it into the folder. Returns its name there. */
export function buildBeckon({ folder }: { readonly folder: string }): string {
  cpSync(buildFor("windows-x64"), join(folder, "beckon.exe"));
  return "beckon.exe";
}

export async function createWine() {
  const folder = mkdtempSync(join(tmpdir(), "beckon-wine-"));
  const { display, stop: stopScreen } = await startScreen();
  const prefix = join(folder, "prefix");
  cpSync(await createTemplate(display), prefix, { recursive: true, verbatimSymlinks: true });
  const env = createEnvironment(prefix, display);
  const children: Bun.Subprocess[] = [];

  function spawn(program: string, args: readonly string[], more: Record<string, string> = {}) {
    const options = { cwd: folder, env: { ...env, ...more }, stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn([wine, program, ...args], { ...options, stdin: "pipe" });
    children.push(child);
    return child;
  }
  /**
   * Returns a hash of what is in `area` (`x,y,width,height`, or null for the whole screen). With a name, the picture is kept
   * in the folder BECKON_SHOTS.
   */
  async function takePicture(area: string | null, name?: string): Promise<string> {
    const shots = process.env.BECKON_SHOTS;
    const path = join(name && shots ? shots : folder, `${name ?? "picture"}.png`);
    await runCommand(["scrot", "--overwrite", ...(area === null ? [] : ["--autoselect", area]), path], env);
    return Bun.hash(readFileSync(path)).toString(16);
  }
  const emptyScreen = Bun.which("scrot") === null ? null : await takePicture(null);
  // Keeps the desktop open, which saves every program a second.
  spawn(idleProgram, []);
  const users = join(prefix, "drive_c/users");
  const xdotool = (...args: string[]) => runCommand(["xdotool", ...args], env);

  return {
    folder,
    /** The root folder is Z: in Wine. */
    windowsPath: (path: string) => `Z:${path.replaceAll("/", "\\")}`,
    /** The AppData folder of the user. */
    appData: join(users, readdirSync(users).find((name) => name !== "Public") ?? "", "AppData"),
    spawn,
    /** Runs a program to its end. */
    async run(program: string, args: readonly string[], input = "", more: Record<string, string> = {}) {
      const child = spawn(program, args, more);
      child.stdin.write(input);
      child.stdin.end();
      const [stdout, stderr, code] = await Promise.all([
        child.stdout.text(),
        child.stderr.text(),
        child.exited,
      ]);
      return { stdout: stdout.replaceAll("\r\n", "\n"), stderr, code };
    },
    async click({ x, y }: { x: number; y: number }, button = 1): Promise<void> {
      await this.moveMouse({ x, y });
      await xdotool("click", String(button));
    },
    moveMouse: ({ x, y }: { x: number; y: number }) => xdotool("mousemove", String(x), String(y)),
    pressKey: (key: string) => xdotool("key", key),
    takePicture,
    /** A hash of the screen before the desktop was drawn. */
    emptyScreen,
    async destroy(): Promise<void> {
      for (const child of children) child.kill("SIGKILL");
      await stopWine(env);
      await Promise.all(children.map((child) => child.exited));
      await stopScreen();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
