/** beckon at login: put there, taken away, or left as it is. */

import { openLogin } from "../desktop/login/index.ts";
import { recordLogin } from "../setup/record.ts";
import { ensurePrivateFolder } from "../storage/files.ts";
import type { Paths } from "../storage/paths.ts";
import type { Env } from "../system/home.ts";

export interface Arranged {
  readonly says: readonly string[];
  readonly isChanged: boolean;
  readonly isFailed: boolean;
}

export interface ArrangeOptions {
  readonly paths: Paths;
  readonly env: Env;
  readonly binary: string;
  /** As the person said; null: nothing. */
  readonly login: boolean | null;
  /** Where nothing was said. */
  readonly usual: boolean;
}

/** Never throws: the hooks are in place whatever becomes of it. */
export async function arrangeLogin(options: ArrangeOptions): Promise<Arranged> {
  const wants = options.login ?? options.usual;
  try {
    if (wants) return await enable(options);
    return options.login === false ? await disable(options) : nothing;
  } catch (error) {
    const what = wants ? "set to start" : "kept from starting";
    const says = [`beckon could not be ${what} when you log in: ${(error as Error).message}`];
    return { says, isChanged: false, isFailed: options.login !== null };
  }
}

async function enable({ paths, env, binary, login }: ArrangeOptions): Promise<Arranged> {
  const item = await openLogin({ env, folder: paths.helpers });
  if (!item) throw new Error("beckon does not know how to, on this system");
  const before = await item.state();
  // Whoever switched it off in their system's own settings meant it.
  if (before.turnedOff && login === null) return said([before.problem ?? "It is switched off at login."]);
  ensurePrivateFolder(paths.helpers);
  const done = await item.enable({ binary, home: env.BECKON_HOME ? paths.state : null });
  await recordLogin(paths, true);
  const isThere = before.on && before.problem === null && before.binary === binary;
  return { ...said([`${done}.`]), isChanged: !isThere };
}

async function disable({ paths, env }: ArrangeOptions): Promise<Arranged> {
  const done = await takeLoginAway(env, paths);
  await recordLogin(paths, false);
  return done === null ? nothing : { ...said([`${done}.`]), isChanged: true };
}

/** What was taken away; null: there was nothing. */
export async function takeLoginAway(env: Env, paths: Paths): Promise<string | null> {
  return (await (await openLogin({ env, folder: paths.helpers }))?.disable()) ?? null;
}

export async function isAtLogin(env: Env, paths: Paths): Promise<boolean> {
  return (await (await openLogin({ env, folder: paths.helpers }))?.state())?.on ?? false;
}

const nothing: Arranged = { says: [], isChanged: false, isFailed: false };
const said = (says: readonly string[]): Arranged => ({ says, isChanged: false, isFailed: false });

export async function foreseeLogin({ paths, env, binary, login, usual }: ArrangeOptions): Promise<string[]> {
  const item = await openLogin({ env, folder: paths.helpers });
  const before = await item?.state();
  if (!(login ?? usual)) {
    return login === false && before?.on ? ["Would keep beckon from starting when you log in."] : [];
  }
  if (before?.turnedOff && login === null) return [before.problem ?? "It is switched off at login."];
  const isThere = before?.on && before.problem === null && before.binary === binary;
  return [isThere ? "beckon starts when you log in already." : "Would have beckon start when you log in."];
}
