/**
 * beckon.app, which the install builds on the Mac: with it, beckon has a name of its own among login items, in the list of menu-bar
 * items and where macOS asks for permissions, instead of that of a file or of osascript. It holds a copy of the program, which takes no room on
 * APFS, and no launcher script, whose permissions would be the shell's. Built by documentation: it has not run on a Mac.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../../package.json";
import { readErrorMessage } from "../../core/error-message.ts";
import type { Exec } from "../../core/interfaces/index.ts";
import { asRecord, parseJson, readString } from "../../core/json.ts";
import { ignoreErrors, readOr, renameFile } from "../../storage/files.ts";

/** Also the identifier of the program's own signature. */
export const bundleId = "dev.beckon";
const signMs = 30_000;

const partsOf = (app: string) => ({
  app,
  info: join(app, "Contents", "Info.plist"),
  program: join(app, "Contents", "MacOS", "beckon"),
  source: join(app, "Contents", "Resources", "source.json"),
});

export const macAppOf = (home: string) => partsOf(join(home, "Applications", "beckon.app"));

/** LSUIElement: no icon in the Dock. macOS asks for control of a terminal with the sentence that is here. */
const formatInfoPlist = (): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>CFBundleIdentifier</key>
  <string>${bundleId}</string>
  <key>CFBundleName</key>
  <string>beckon</string>
  <key>CFBundleExecutable</key>
  <string>beckon</string>
  <key>CFBundlePackageType</key>
  <string>APPL</string>
  <key>CFBundleShortVersionString</key>
  <string>${version}</string>
  <key>CFBundleVersion</key>
  <string>${version}</string>
  <key>LSUIElement</key>
  <true/>
  <key>NSAppleEventsUsageDescription</key>
  <string>beckon shows the tab of the session that needs you.</string>
</dict>
</plist>
`;

/** Builds it beside its place, and puts it there only if its program runs. Returns why there is none, or null. */
export async function placeMacApp(home: string, binary: string, exec: Exec): Promise<string | null> {
  const { app } = macAppOf(home);
  if (existsSync(app) && !isOwn(home)) return `${app} is not beckon's own`;
  const temporary = partsOf(`${app}.beckon-tmp`);
  try {
    rmSync(temporary.app, { recursive: true, force: true });
    mkdirSync(dirname(temporary.program), { recursive: true });
    mkdirSync(dirname(temporary.source), { recursive: true });
    copyFileSync(binary, temporary.program, constants.COPYFILE_FICLONE);
    writeFileSync(temporary.info, formatInfoPlist());
    writeFileSync(temporary.source, JSON.stringify(describeSource(binary)));
    const sign = ["/usr/bin/codesign", "--force", "--sign", "-", "--identifier", bundleId, temporary.app];
    const signed = await exec(sign, { timeoutMs: signMs });
    if (signed.code !== 0) return `it could not be signed (${signed.stderr.trim().slice(0, 200)})`;
    const tried = await exec([temporary.program, "--version"], { timeoutMs: signMs });
    if (tried.code !== 0 || !tried.stdout.startsWith("beckon ")) return "its program does not start";
    rmSync(app, { recursive: true, force: true });
    renameFile(temporary.app, app);
    return null;
  } catch (error) {
    return readErrorMessage(error);
  } finally {
    ignoreErrors(() => rmSync(temporary.app, { recursive: true, force: true }));
  }
}

/** Removes it, if the install built it. */
export function removeMacApp(home: string): void {
  if (isOwn(home)) rmSync(macAppOf(home).app, { recursive: true, force: true });
}

/** The program that its copy was made of; null if there is no beckon.app of ours. */
export function readMacAppSource(home: string): string | null {
  return isOwn(home) ? readString(readSource(home).binary) : null;
}

/** Builds it again if the program was replaced, by an update for example. Returns whether the copy that runs now is the old one. */
export async function renewMacApp(home: string, program: string, exec: Exec): Promise<boolean> {
  const binary = program === macAppOf(home).program ? readMacAppSource(home) : null;
  if (binary === null || !existsSync(binary)) return false;
  const { size, mtimeMs } = readSource(home);
  const now = describeSource(binary);
  if (now.size === size && now.mtimeMs === mtimeMs) return false;
  return (await placeMacApp(home, binary, exec)) === null;
}

function describeSource(binary: string) {
  const { size, mtimeMs } = statSync(binary);
  return { binary, size, mtimeMs };
}

const readSource = (home: string) => asRecord(parseJson(readText(macAppOf(home).source)));
const isOwn = (home: string): boolean =>
  readText(macAppOf(home).info).includes(`<string>${bundleId}</string>`) &&
  readString(readSource(home).binary) !== null;

const readText = (path: string): string => readOr(() => readFileSync(path, "utf8"), "");
