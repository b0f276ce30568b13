/** The login item, which starts beckon with the desktop: for `--install` and `--uninstall`. */

import { openLoginItem } from "../desktop/login/index.ts";
import { recordLogin } from "../setup/install-record.ts";
import { ensureOwnFolder } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import type { Env } from "../system/folders.ts";

export interface LoginResult {
  /** For the user. */
  readonly lines: readonly string[];
  readonly isChanged: boolean;
  readonly isFailed: boolean;
}

export interface LoginItemOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly binary: string;
  /** --login or --no-login; null if neither was given. */
  readonly wanted: boolean | null;
  /** What to do if neither was given. */
  readonly isDefault: boolean;
}

const nothingDone: LoginResult = { lines: [], isChanged: false, isFailed: false };

/** Never throws, because the hooks are in place already. It counts as failed only if the user asked for it. */
export async function setUpLogin(options: LoginItemOptions): Promise<LoginResult> {
  const isWanted = options.wanted ?? options.isDefault;
  try {
    if (isWanted) return await enable(options);
    return options.wanted === false ? await disable(options) : nothingDone;
  } catch (error) {
    const what = isWanted ? "added" : "removed";
    const line = `The login item could not be ${what}: ${(error as Error).message}`;
    return { lines: [line], isChanged: false, isFailed: options.wanted !== null };
  }
}

const turnedOff = "beckon's login item is turned off in the system's settings.";

async function enable({ paths, env, binary, wanted }: LoginItemOptions): Promise<LoginResult> {
  const item = await openLoginItem({ env, folder: paths.helpers });
  if (!item) throw new Error("beckon does not know how on this system");
  if (item.obstacle) throw new Error(item.obstacle);
  const before = await item.state();
  // A user who turned it off in the system's own settings meant it.
  if (before.turnedOff && wanted === null) return { ...nothingDone, lines: [before.problem ?? turnedOff] };
  ensureOwnFolder(paths.helpers);
  const done = await item.enable({ binary, home: env.BECKON_HOME ? paths.state : null });
  await recordLogin(paths, true);
  const wasCorrect = before.on && before.problem === null && before.binary === binary;
  return { lines: [`${done}.`], isChanged: !wasCorrect, isFailed: false };
}

async function disable({ paths, env }: LoginItemOptions): Promise<LoginResult> {
  const done = await removeLogin(env, paths);
  await recordLogin(paths, false);
  return done === null ? nothingDone : { lines: [`${done}.`], isChanged: true, isFailed: false };
}

/** What was removed. Null if there was no login item. */
export async function removeLogin(env: Env, paths: Paths): Promise<string | null> {
  return (await (await openLoginItem({ env, folder: paths.helpers }))?.disable()) ?? null;
}

export async function hasLogin(env: Env, paths: Paths): Promise<boolean> {
  return (await (await openLoginItem({ env, folder: paths.helpers }))?.state())?.on ?? false;
}

/** What starts beckon where there is no desktop, and how to start it now; `name` is what the user types. */
export async function describeHeadlessStart(env: Env, paths: Paths, name: string): Promise<string> {
  const item = await openLoginItem({ env, folder: paths.helpers });
  const start = `Start it with: ${name} start`;
  if ((await item?.state())?.on) return `beckon is not running. It starts when you log in. ${start}`;
  const notStarted = "There is no desktop here, so beckon is not started.";
  const phone = `For alerts on your phone: ${name} channel add phone.`;
  if (item?.obstacle) return `${notStarted} ${phone} ${start}`;
  return (
    `${notStarted} To run it now and whenever you log in: ${name} --install --login (a systemd user service; after a reboot it ` +
    `runs without a login only with loginctl enable-linger). ${phone} ${start}`
  );
}

/** What setUpLogin would do, for --dry-run. */
export async function planLogin({
  paths,
  env,
  binary,
  wanted,
  isDefault,
}: LoginItemOptions): Promise<string[]> {
  const item = await openLoginItem({ env, folder: paths.helpers });
  const before = await item?.state();
  if (!(wanted ?? isDefault)) return wanted === false && before?.on ? ["Would remove the login item."] : [];
  if (before?.turnedOff && wanted === null) return [before.problem ?? turnedOff];
  if (item?.obstacle) return [`Would not add a login item: ${item.obstacle}`];
  const isCorrect = before?.on && before.problem === null && before.binary === binary;
  return [isCorrect ? "beckon already starts when you log in." : "Would start beckon when you log in."];
}
