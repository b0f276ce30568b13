/** The terminals that `beckon doctor` lists. */
import { describe, expect, test } from "bun:test";
import { listInstalledTerminals, terminals } from "../../../src/core/terminals/index.ts";

describe("the installed terminals", () => {
  const machine = {
    platform: "linux",
    has: () => true,
    env: {},
    sessions: [],
    configHome: "/home/ana/.config",
    readFile: (_: string): string | null => null,
  } as const;
  const kitty = (conf: string | null, env: Record<string, string> = {}) => {
    const folder = env.KITTY_CONFIG_DIRECTORY ?? "/home/ana/.config/kitty";
    const readFile = (path: string) => (path === `${folder}/kitty.conf` ? conf : null);
    return listInstalledTerminals({ ...machine, readFile, env }).find(({ name }) => name === "kitty");
  };

  test("include every described terminal except SSH, which is not one", () => {
    const listed = new Set(listInstalledTerminals(machine).map(({ name }) => name));
    expect(terminals.map(({ name }) => name).filter((name) => !listed.has(name))).toEqual(["ssh"]);
  });

  test("say how far focus gets on this system", () => {
    const reachOf = (platform: "linux" | "darwin", name: string) =>
      listInstalledTerminals({ ...machine, platform }).find((terminal) => terminal.name === name)?.reach;
    expect(reachOf("linux", "Ghostty")).toBe("window");
    expect(reachOf("darwin", "Ghostty")).toBe("pane");
    expect(reachOf("linux", "Konsole")).toBe("tab");
  });

  test("leave out what is not installed", () => {
    expect(listInstalledTerminals({ ...machine, has: (program) => program === "foot" })).toEqual([
      { name: "foot", reach: "single", advice: null },
    ]);
  });

  test.each([
    [null, "window"],
    ["allow_remote_control yes", "window"],
    ["allow_remote_control socket-only\nlisten_on unix:/tmp/kitty", "pane"],
    ["allow_remote_control no\nlisten_on unix:/tmp/kitty", "window"],
    ["# allow_remote_control yes\n# listen_on unix:/tmp/kitty", "window"],
    ["listen_on unix:/tmp/kitty\nallow_remote_control no\nallow_remote_control y", "pane"],
  ] as const)("have kitty with %j in kitty.conf: %s", (conf, reach) =>
    expect(kitty(conf)?.reach).toBe(reach),
  );

  test("have kitty by the settings in its own folder, if that is elsewhere", () => {
    const conf = "allow_remote_control socket-only\nlisten_on unix:/tmp/kitty";
    expect(kitty(conf, { KITTY_CONFIG_DIRECTORY: "/etc/kitty" })?.reach).toBe("pane");
  });

  test("have advice about kitty only for users of kitty", () => {
    expect(kitty(null)?.advice).toBeNull();
    expect(kitty(null, { KITTY_WINDOW_ID: "1" })?.advice).toContain("allow_remote_control");
    const used = listInstalledTerminals({ ...machine, sessions: [{ KITTY_WINDOW_ID: "1" }] }).find(
      ({ name }) => name === "kitty",
    );
    expect(used?.advice).toContain("allow_remote_control");
  });

  test("count kitty as controllable if it says where it listens", () => {
    expect(kitty(null, { KITTY_LISTEN_ON: "unix:/tmp/kitty" })).toMatchObject({
      reach: "pane",
      advice: null,
    });
  });
});
