/**
 * What a system can show of beckon is really done there: a hook from a folder with a space in its name, in every shell that agents use
 * on it, and icon, menu and alert with a picture of the screen. The workflows run it; it changes the user's settings of Claude Code,
 * so it runs only on machines that are thrown away (CI=true).
 *
 * npm run first-run -- [--program FOLDER] [--out FOLDER]
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { listOwnHooks } from "../src/user-files/hooks.ts";
import { letTimePass, waitUntil } from "./wait-until.ts";

const repo = resolve(import.meta.dir, "..");
const isWindows = process.platform === "win32";
const programName = isWindows ? "beckon.exe" : "beckon";

const { values } = parseArgs({ options: { program: { type: "string" }, out: { type: "string" } } });
if (process.env.CI !== "true")
  throw new Error("this changes the settings of the user: set CI=true to run it");
const out = resolve(values.out ?? "shots");
mkdirSync(out, { recursive: true });

/** The shells that agents give their hooks to, with the command as their last argument. */
const shells: readonly (readonly string[])[] = isWindows
  ? [
      ["cmd.exe", "/d", "/s", "/c"],
      ["powershell.exe", "-NoProfile", "-Command"],
      ["pwsh.exe", "-NoProfile", "-Command"],
      ["C:\\Program Files\\Git\\bin\\bash.exe", "-c"],
    ]
  : [
      ["/bin/sh", "-c"],
      ["/bin/bash", "-c"],
      ["/bin/zsh", "-c"],
    ];

const pictures: Partial<Record<NodeJS.Platform, (path: string) => readonly string[]>> = {
  darwin: (path) => ["screencapture", "-x", path],
  linux: (path) => ["scrot", "--overwrite", path],
  win32: (path) => [
    "powershell.exe",
    "-NoProfile",
    "-Command",
    `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
     $size = [System.Windows.Forms.Screen]::PrimaryScreen.Bounds
     $picture = New-Object System.Drawing.Bitmap $size.Width, $size.Height
     [System.Drawing.Graphics]::FromImage($picture).CopyFromScreen(0, 0, 0, 0, $picture.Size)
     $picture.Save('${path}')`,
  ],
};

function findProgram(folder: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find(
    (path) => path.split(/[\\/]/).at(-1) === programName,
  );
  if (found === undefined) throw new Error(`there is no ${programName} in ${folder}`);
  return join(folder, found);
}

async function run(argv: readonly string[], input = ""): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([...argv], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
  child.stdin.write(input);
  child.stdin.end();
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, text: stdout + stderr };
}

const failures: string[] = [];
function report(what: string, isGood: boolean, detail = ""): void {
  console.log(`${isGood ? "ok  " : "FAIL"} ${what}${detail === "" ? "" : `\n${detail.trimEnd()}`}`);
  if (!isGood) failures.push(what);
}

const folder = join(mkdtempSync(join(tmpdir(), "beckon first run ")), "Jörg Müller");
mkdirSync(folder, { recursive: true });
const program = join(folder, programName);
cpSync(findProgram(resolve(values.program ?? join(repo, "dist"))), program);
mkdirSync(join(homedir(), ".claude"), { recursive: true });

const version = await run([program, "--version"]);
report("the program starts", version.code === 0, version.text);
// Placed: the hooks call it in the folder with the space.
const installed = await run([program, "--install", "--placed", "--no-login", "--agent", "claude"]);
report("--install", installed.code === 0, installed.text);
const started = await run([program, "start"]);
report("start", started.code === 0, started.text);

const settings = join(homedir(), ".claude", "settings.json");
const hook = listOwnHooks(existsSync(settings) ? readFileSync(settings, "utf8") : "{}").find(
  ({ event }) => event === "PermissionRequest",
);
report("a hook for a shell is registered", hook !== undefined, hook?.command ?? "");
for (const shell of hook === undefined ? [] : shells) {
  const name = shell[0] ?? "";
  if (Bun.which(name) === null) {
    console.log(`     ${name} is not here`);
    continue;
  }
  const sessionId = crypto.randomUUID();
  const payload = { session_id: sessionId, hook_event_name: "SessionStart", source: "startup", cwd: folder };
  const { code, text } = await run([...shell, hook?.command ?? ""], JSON.stringify(payload));
  const isListed = async () => (await run([program, "status", "--json", "--all"])).text.includes(sessionId);
  const isSeen = await waitUntil(isListed, 10_000).then(
    () => true,
    () => false,
  );
  report(`a hook in ${name}`, code === 0 && text === "" && isSeen, text);
}

const desktop = run([program, "doctor", "--desktop", "--wait", "15"]);
const takePicture = pictures[process.platform];
if (takePicture) {
  await Promise.race([
    desktop,
    letTimePass(8_000, "icon and alert need a moment on a machine that has just started"),
  ]);
  const { code, text } = await run(takePicture(join(out, "desktop.png"))).catch((error) => ({
    code: 1,
    text: String(error),
  }));
  console.log(code === 0 ? `     picture: ${join(out, "desktop.png")}` : `     no picture: ${text}`);
}
const { code, text } = await desktop;
writeFileSync(join(out, "doctor-desktop.txt"), text);
report("doctor --desktop", code === 0, text);
if (process.platform === "darwin") {
  // With beckon.app, which a login item comes with, names and permissions are beckon's own.
  const login = await run([program, "--install", "--placed", "--login", "--agent", "claude"]);
  report("--install --login", login.code === 0, login.text);
  const app = join(homedir(), "Applications", "beckon.app", "Contents", "MacOS", "beckon");
  const own = await run([app, "doctor", "--desktop", "--wait", "5"]);
  writeFileSync(join(out, "doctor-desktop-app.txt"), own.text);
  report("doctor --desktop of beckon.app", own.code === 0, own.text);
}
const stopped = await run([program, "stop"]);
report("stop", stopped.code === 0, stopped.text);
const removed = await run([program, "--uninstall", "--purge"]);
report("--uninstall", removed.code === 0, removed.text);
console.log(failures.length === 0 ? "everything works" : `failed: ${failures.join(", ")}`);
process.exit(failures.length === 0 ? 0 : 1);
