/** After an uninstall the settings are as before: byte for byte if nothing else changed them, otherwise without beckon's entries. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isBeckonHere, planPurge, purge } from "../../src/setup/purge.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
import { listOwnHooks, SettingsError } from "../../src/user-files/hooks.ts";
import { removeHomes, temporaryHome } from "./home.ts";

afterAll(removeHomes);

const fixtures = join(import.meta.dir, "..", "fixtures", "settings");

describe("install, then uninstall", () => {
  const names = readdirSync(fixtures);
  test("there are fixtures", () => expect(names.length).toBeGreaterThanOrEqual(20));

  test.each(names)("%s", async (name) => {
    const home = temporaryHome();
    const bytes = readFileSync(join(fixtures, name));
    home.put(home.settings, bytes);
    const hadOurs = hasOurs(bytes.toString("utf8"));
    try {
      await home.install();
    } catch {
      // A file that is refused does not change.
      expect(readFileSync(home.settings)).toEqual(bytes);
      expect(existsSync(home.places.installed)).toBe(false);
      return;
    }
    const how = await home.uninstall();
    if (hadOurs) {
      expect(listOwnHooks(home.read())).toEqual([]);
    } else {
      expect(how).toBe("restored");
      expect(readFileSync(home.settings)).toEqual(bytes);
    }
  });
});

function hasOurs(text: string): boolean {
  try {
    return listOwnHooks(text).length > 0;
  } catch (error) {
    if (error instanceof SettingsError) return false;
    throw error;
  }
}

describe("an uninstall", () => {
  test("removes the file that the install created, and its folder if that is empty", async () => {
    const home = temporaryHome();
    const options = { env: { ...home.env, CLAUDE_CONFIG_DIR: home.at("a", "b", "c") } };
    await home.install(options);
    expect(await home.uninstall(home.at("a", "b", "c", "settings.json"))).toBe("removed");
    expect(existsSync(home.at("a"))).toBe(false);
  });

  test("keeps the folder if it has other files", async () => {
    const home = temporaryHome();
    await home.install();
    writeFileSync(home.at(".claude", "history.jsonl"), "");
    expect(await home.uninstall()).toBe("removed");
    expect(readdirSync(home.at(".claude"))).toEqual(["history.jsonl"]);
  });

  test("removes the file also if what others added is gone again", async () => {
    const home = temporaryHome();
    await home.install();
    writeFileSync(home.settings, JSON.stringify(JSON.parse(home.read())));
    expect(await home.uninstall()).toBe("removed");
    expect(existsSync(home.settings)).toBe(false);
  });

  test("removes only beckon's entries if the file has changed since, and keeps a backup", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{\n  "model": "opus"\n}\n');
    await home.install();
    const settings = JSON.parse(home.read());
    writeFileSync(home.settings, `${JSON.stringify({ ...settings, theme: "dark" }, null, 2)}\n`);
    expect(await home.uninstall()).toBe("entries");
    expect(JSON.parse(home.read())).toEqual({ model: "opus", theme: "dark" });
    expect(home.backups()).toHaveLength(2);
  });

  test("removes only beckon's entries if the backup is gone or was changed", async () => {
    for (const spoil of [rmSync, (path: string) => writeFileSync(path, '{"evil": true}')]) {
      const home = temporaryHome();
      home.put(home.settings, '{"model":"opus"}');
      const { backup } = await home.install();
      spoil(backup ?? "");
      expect(await home.uninstall()).toBe("entries");
      expect(JSON.parse(home.read())).toEqual({ model: "opus" });
    }
  });

  test("restores the file as it was before the first of several installs", async () => {
    const home = temporaryHome();
    const before = '{ "model" : "opus" }';
    home.put(home.settings, before);
    home.claude("2.0.76");
    await home.install();
    home.claude("2.1.325");
    await home.install({ program: home.program("0.2.0") });
    expect(await home.uninstall()).toBe("restored");
    expect(home.read()).toBe(before);
  });

  test("does not restore entries of an older beckon", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"model":"opus"}');
    home.claude("2.0.76");
    await home.install();
    writeFileSync(home.settings, JSON.stringify({ ...JSON.parse(home.read()), theme: "dark" }));
    home.claude("2.1.325");
    await home.install();
    expect(await home.uninstall()).toBe("entries");
    expect(JSON.parse(home.read())).toEqual({ model: "opus", theme: "dark" });
  });

  test("finds hooks that were added by hand", async () => {
    const home = temporaryHome();
    const hand = { hooks: { Stop: [{ hooks: [{ type: "command", command: "beckon hook claude" }] }] } };
    home.put(home.settings, JSON.stringify(hand));
    expect(await home.uninstall()).toBe("entries");
    expect(listOwnHooks(home.read())).toEqual([]);
  });

  test("removes what a killed install left beside the settings", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"model":"opus"}');
    const before = home.tree();
    home.put(`${home.settings}.beckon-lock`, "");
    home.put(`${home.settings}.beckon-tmp`, '{"half');
    expect(await home.uninstall()).toBe("nothing");
    expect(home.tree()).toEqual(before);
  });

  test("changes nothing if there are no hooks of beckon's", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"hooks":{}}');
    const before = home.tree();
    expect(await home.uninstall()).toBe("nothing");
    expect(await home.uninstall(home.at("none", "settings.json"))).toBe("nothing");
    expect(home.tree()).toEqual(before);
  });
});

describe("--purge", () => {
  const usual = { isChosen: false, isBeckons: true };

  test("removes beckon's folders", async () => {
    const home = temporaryHome();
    await home.install();
    for (const name of [
      "auth-header",
      "snapshot.previous.json",
      "beckon.log.1",
      "snapshot.damaged-2026.json",
      "history.db-rows",
    ]) {
      home.put(join(home.places.state, name), "");
    }
    home.put(join(home.places.journal, "1.jsonl"), "");
    home.put(home.places.config, "{}");
    // A killed `beckon channel add` can leave the second one.
    for (const path of [home.places.channelSecrets, `${home.places.channelSecrets}.123.tmp`])
      home.put(path, '{"phone": {"token": "x"}}');
    home.put(home.places.channelState, "{}");
    const plan = planPurge(home.places, usual);
    expect(plan.kept).toEqual([]);
    expect(purge(plan)).toEqual([]);
    expect(existsSync(home.places.state)).toBe(false);
    expect(existsSync(home.at(".config", "beckon"))).toBe(false);
  });

  test("keeps files that are not beckon's, and says so", async () => {
    const home = temporaryHome();
    await home.install();
    home.put(join(home.places.state, "notes.txt"), "mine");
    const plan = planPurge(home.places, usual);
    purge(plan);
    expect(plan.kept).toEqual([expect.stringContaining("notes.txt")]);
    expect(readdirSync(home.places.state)).toEqual(["notes.txt"]);
  });

  test("keeps a folder that the user chose if it has other files, whatever their names", async () => {
    const home = temporaryHome();
    const places = resolvePaths({ ...home.env, BECKON_HOME: home.home });
    home.put(home.at("backups", "photos.tar"), "precious");
    home.put(home.at("config.json"), "theirs");
    home.put(home.at("auth-header"), "ours");
    home.put(home.at("letters", "to-ann.txt"), "");
    const before = home.tree();
    const plan = planPurge(places, { isChosen: true, isBeckons: true });
    purge(plan);
    expect(plan.kept).toEqual([expect.stringMatching(/it also has other files: letters/)]);
    expect(home.tree()).toEqual(before);
  });

  test("keeps a folder that the user chose and beckon never used", () => {
    const home = temporaryHome();
    home.put(home.at("disk", "backups", "photos.tar"), "precious");
    const disk = resolvePaths({ BECKON_HOME: home.at("disk") });
    purge(planPurge(disk, { isChosen: true, isBeckons: isBeckonHere(disk) }));
    expect(existsSync(home.at("disk", "backups", "photos.tar"))).toBe(true);
  });

  test("follows no links", async () => {
    const home = temporaryHome();
    const precious = home.put(home.at("elsewhere", "journal", "diary.txt"), "precious");
    mkdirSync(home.places.state, { recursive: true });
    symlinkSync(home.at("elsewhere", "journal"), home.places.journal);
    purge(planPurge(home.places, usual));
    expect(existsSync(home.places.state)).toBe(false);
    symlinkSync(home.at("elsewhere"), home.places.state);
    expect(planPurge(home.places, usual).kept).toEqual([expect.stringContaining("is a link")]);
    purge(planPurge(home.places, usual));
    expect(readFileSync(precious, "utf8")).toBe("precious");
  });
});
