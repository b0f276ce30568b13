import { expect, test } from "bun:test";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { resolvePaths } from "../../src/storage/paths.ts";

test("with BECKON_HOME all files are directly in that folder", () => {
  expect(resolvePaths({ BECKON_HOME: "/opt/b/", HOME: "/home/me", XDG_STATE_HOME: "/x" }, "linux")).toEqual({
    state: "/opt/b",
    config: "/opt/b/config.json",
    channelSecrets: "/opt/b/channel-secrets.json",
    rules: "/opt/b/rules.json",
    endpoint: "/opt/b/endpoint.json",
    authHeader: "/opt/b/auth-header",
    hookSocket: "/opt/b/hook.sock",
    snapshot: "/opt/b/snapshot.json",
    journal: "/opt/b/journal",
    spool: "/opt/b/spool.jsonl",
    spoolDropped: "/opt/b/spool-dropped.json",
    log: "/opt/b/beckon.log",
    hookLog: "/opt/b/hook.log",
    answerLog: "/opt/b/decisions.jsonl",
    ports: "/opt/b/ports.json",
    guardScope: "/opt/b/guard.json",
    history: "/opt/b/history.db",
    lock: "/opt/b/lock",
    alertState: "/opt/b/desk.json",
    channelState: "/opt/b/channels.json",
    machineState: "/opt/b/machines.json",
    fleets: "/opt/b/fleets.json",
    fleetState: "/opt/b/fleet-state.json",
    prompts: "/opt/b/prompts.json",
    inboxes: "/opt/b/inbox",
    updateCheck: "/opt/b/update.json",
    helpers: "/opt/b/helpers",
    installed: "/opt/b/installed.json",
    backups: "/opt/b/backups",
    offMarker: "/opt/b/off",
    knownFolders: "/opt/b/beckon-folders",
    launchMarker: "/opt/b/launching",
  });
});

test("a relative BECKON_HOME is resolved from the current folder, an empty one is ignored", () => {
  expect(resolvePaths({ BECKON_HOME: "b/../c" }, "linux").state).toBe(resolve("c"));
  expect(resolvePaths({ BECKON_HOME: "", HOME: "/home/me" }, "linux").state).toBe(
    "/home/me/.local/state/beckon",
  );
});

test.each([
  ["nothing set", {}, "/home/me/.local/state/beckon", "/home/me/.config/beckon/config.json"],
  ["both set", { XDG_STATE_HOME: "/s", XDG_CONFIG_HOME: "/c" }, "/s/beckon", "/c/beckon/config.json"],
  [
    "relative or empty, which the XDG specification ignores",
    { XDG_STATE_HOME: "s", XDG_CONFIG_HOME: "" },
    "/home/me/.local/state/beckon",
    "/home/me/.config/beckon/config.json",
  ],
])("Linux: %s", (_, env, state, config) => {
  const paths = resolvePaths({ HOME: "/home/me", ...env }, "linux");
  expect([paths.state, paths.config]).toEqual([state, config]);
});

test("macOS: one folder in Application Support, whatever XDG says", () => {
  const paths = resolvePaths({ HOME: "/Users/me", XDG_STATE_HOME: "/s" }, "darwin");
  expect(paths.state).toBe("/Users/me/Library/Application Support/beckon");
  expect(paths.config).toBe("/Users/me/Library/Application Support/beckon/config.json");
});

test("Windows: state in LOCALAPPDATA, config in APPDATA", () => {
  const env = { USERPROFILE: "C:\\Users\\me", APPDATA: "C:\\R", LOCALAPPDATA: "C:\\L" };
  expect(resolvePaths(env, "win32").spool).toBe("C:\\L\\beckon\\spool.jsonl");
  expect(resolvePaths(env, "win32").config).toBe("C:\\R\\beckon\\config.json");
  expect(resolvePaths({ USERPROFILE: "C:\\Users\\me" }, "win32").log).toBe(
    "C:\\Users\\me\\AppData\\Local\\beckon\\beckon.log",
  );
});

test("without HOME, or with a relative one, the home folder comes from the system", () => {
  const expected = `${homedir()}/.local/state/beckon`;
  expect(resolvePaths({}, "linux").state).toBe(expected);
  expect(resolvePaths({ HOME: "me" }, "linux").state).toBe(expected);
});
