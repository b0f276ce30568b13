/**
 * Storage: everything that reads or writes beckon's own files on disk. This file says where they are. The forwarder imports it for
 * every event, so node:path and node:os (0.4 ms each) are loaded only if a variable is missing or relative.
 */

export interface Paths {
  /** The folder of all files except the config and the channels' secrets. */
  readonly state: string;
  readonly config: string;
  /** Tokens of channels. It is beside the config, because the user may write it by hand. */
  readonly channelSecrets: string;
  /** What the user allows from now on. It is beside the config, because the user may write it by hand. */
  readonly rules: string;
  readonly endpoint: string;
  readonly authHeader: string;
  /** Where the app takes hooks' events. Absent on Windows, and where the system has no such sockets. */
  readonly hookSocket: string;
  readonly snapshot: string;
  /** A folder. */
  readonly journal: string;
  readonly spool: string;
  /** How many events a full spool has dropped. */
  readonly spoolDropped: string;
  readonly log: string;
  readonly hookLog: string;
  /** The log of what was asked, answered, shown and not shown. */
  readonly answerLog: string;
  /** Named pieces of work, and the sessions that work on them. */
  readonly ports: string;
  /** Where agents' hooks have to ask the work guard. Absent if nowhere. */
  readonly guardScope: string;
  /** What happened, in SQLite. */
  readonly history: string;
  readonly lock: string;
  /** What alerts were shown, and what is muted and snoozed. */
  readonly alertState: string;
  /** What was sent to channels, and which answers are awaited from there. */
  readonly channelState: string;
  /** How far each linked machine was followed. */
  readonly machineState: string;
  /** The fleets that this machine is in, with its keys. */
  readonly fleets: string;
  /** How far each fleet was followed, and what waits to be written to it. */
  readonly fleetState: string;
  /** What the user has written for sessions, and is not delivered. */
  readonly prompts: string;
  /** A folder with a socket for each process of an agent's that takes prompts through beckon's plugin. */
  readonly inboxes: string;
  /** When a newer beckon was last looked for, and which there was. */
  readonly updateCheck: string;
  /** A folder for the programs that are unpacked from the binary. */
  readonly helpers: string;
  /** What the installer did, for the uninstaller and for doctor. */
  readonly installed: string;
  /** A folder for agents' settings files as they were before an install. */
  readonly backups: string;
  /** Other folders that the user has run beckon in. Only the file in the default folder counts. */
  readonly knownFolders: string;
  /** Exists while the user wants beckon off: they quit it, or ran `beckon stop`. */
  readonly offMarker: string;
  /** Exists while a hook starts the app. */
  readonly launchMarker: string;
}

type Env = Readonly<Record<string, string | undefined>>;

export function resolvePaths(env: Env = process.env, platform: NodeJS.Platform = process.platform): Paths {
  const separator = platform === "win32" ? "\\" : "/";
  const join = (...parts: string[]) => parts.join(separator);
  const { state, config } = resolveFolders(env, platform, join);
  // Not with join: at its fiftieth call JavaScriptCore starts to compile it, which costs a hook two threads and 2 ms.
  const inState = state + separator;
  const inConfig = config + separator;
  return {
    state,
    config: `${inConfig}config.json`,
    channelSecrets: `${inConfig}channel-secrets.json`,
    rules: `${inConfig}rules.json`,
    endpoint: `${inState}endpoint.json`,
    authHeader: `${inState}auth-header`,
    hookSocket: `${inState}hook.sock`,
    snapshot: `${inState}snapshot.json`,
    journal: `${inState}journal`,
    spool: `${inState}spool.jsonl`,
    spoolDropped: `${inState}spool-dropped.json`,
    log: `${inState}beckon.log`,
    hookLog: `${inState}hook.log`,
    answerLog: `${inState}decisions.jsonl`,
    ports: `${inState}ports.json`,
    guardScope: `${inState}guard.json`,
    history: `${inState}history.db`,
    lock: `${inState}lock`,
    alertState: `${inState}desk.json`,
    channelState: `${inState}channels.json`,
    machineState: `${inState}machines.json`,
    fleets: `${inState}fleets.json`,
    fleetState: `${inState}fleet-state.json`,
    prompts: `${inState}prompts.json`,
    inboxes: `${inState}inbox`,
    updateCheck: `${inState}update.json`,
    helpers: `${inState}helpers`,
    installed: `${inState}installed.json`,
    backups: `${inState}backups`,
    knownFolders: `${inState}beckon-folders`,
    offMarker: `${inState}off`,
    launchMarker: `${inState}launching`,
  };
}

function resolveFolders(env: Env, platform: NodeJS.Platform, join: (...parts: string[]) => string) {
  const isWindows = platform === "win32";
  const isAbsolute = isWindows ? isAbsoluteOnWindows : (folder: string) => folder.startsWith("/");
  const trim = isWindows ? trimOnWindows : trimSlashes;
  /** The XDG specification says that relative paths are ignored. */
  const readFolder = (name: string) => {
    const value = env[name];
    return value && isAbsolute(value) ? trim(value) : null;
  };

  const own = env.BECKON_HOME;
  if (own) {
    const folder = isAbsolute(own) ? trim(own) : process.getBuiltinModule("node:path").resolve(own);
    return { state: folder, config: folder };
  }
  const home =
    readFolder(isWindows ? "USERPROFILE" : "HOME") ?? process.getBuiltinModule("node:os").homedir();
  if (platform === "darwin") {
    const folder = join(home, "Library", "Application Support", "beckon");
    return { state: folder, config: folder };
  }
  if (isWindows) {
    return {
      state: join(readFolder("LOCALAPPDATA") ?? join(home, "AppData", "Local"), "beckon"),
      config: join(readFolder("APPDATA") ?? join(home, "AppData", "Roaming"), "beckon"),
    };
  }
  return {
    state: join(readFolder("XDG_STATE_HOME") ?? join(home, ".local", "state"), "beckon"),
    config: join(readFolder("XDG_CONFIG_HOME") ?? join(home, ".config"), "beckon"),
  };
}

/** Without a regular expression, because the first one costs the forwarder 0.2 ms. */
function trimSlashes(folder: string): string {
  let end = folder.length;
  while (end > 1 && folder.charCodeAt(end - 1) === 47) end--;
  return end === folder.length ? folder : folder.slice(0, end);
}

function trimOnWindows(folder: string): string {
  return folder.replace(/(?<=[^:\\/])[\\/]+$/, "");
}

function isAbsoluteOnWindows(folder: string): boolean {
  return /^(?:[a-z]:[\\/]|\\\\)/i.test(folder);
}
