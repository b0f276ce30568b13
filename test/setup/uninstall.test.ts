/** After an uninstall the settings are what they were: byte for byte where nobody else wrote, else all but our entries. */
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
import { listOwnHooks, SettingsError } from "../../src/settings-file/hooks.ts";
import { isBeckonHere, planPurge, purge } from "../../src/setup/purge.ts";
import { resolvePaths } from "../../src/storage/paths.ts";
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
      // One that is refused is left as it is.
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
  test("removes the file that was made for the hooks, and its folder if nobody else uses it", async () => {
    const home = temporaryHome();
    const options = { env: { ...home.env, CLAUDE_CONFIG_DIR: home.at("a", "b", "c") } };
    await home.install(options);
    expect(await home.uninstall(home.at("a", "b", "c", "settings.json"))).toBe("removed");
    expect(existsSync(home.at("a"))).toBe(false);
  });

  test("leaves the folder where somebody else uses it", async () => {
    const home = temporaryHome();
    await home.install();
    writeFileSync(home.at(".claude", "history.jsonl"), "");
    expect(await home.uninstall()).toBe("removed");
    expect(readdirSync(home.at(".claude"))).toEqual(["history.jsonl"]);
  });

  test("removes the file also where all that was added to it is gone again", async () => {
    const home = temporaryHome();
    await home.install();
    writeFileSync(home.settings, JSON.stringify(JSON.parse(home.read())));
    expect(await home.uninstall()).toBe("removed");
    expect(existsSync(home.settings)).toBe(false);
  });

  test("takes only our entries where somebody has written since, and keeps a copy", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{\n  "model": "opus"\n}\n');
    await home.install();
    const settings = JSON.parse(home.read());
    writeFileSync(home.settings, `${JSON.stringify({ ...settings, theme: "dark" }, null, 2)}\n`);
    expect(await home.uninstall()).toBe("entries");
    expect(JSON.parse(home.read())).toEqual({ model: "opus", theme: "dark" });
    expect(home.backups()).toHaveLength(2);
  });

  test("takes only our entries where the backup is gone or was changed", async () => {
    for (const spoil of [rmSync, (path: string) => writeFileSync(path, '{"evil": true}')]) {
      const home = temporaryHome();
      home.put(home.settings, '{"model":"opus"}');
      const { backup } = await home.install();
      spoil(backup ?? "");
      expect(await home.uninstall()).toBe("entries");
      expect(JSON.parse(home.read())).toEqual({ model: "opus" });
    }
  });

  test("gives back what was there before the first of several installs", async () => {
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

  test("after which somebody wrote and beckon was installed again gives back no entry of an older beckon", async () => {
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

  test("of hooks that were put there by hand finds them too", async () => {
    const home = temporaryHome();
    const hand = { hooks: { Stop: [{ hooks: [{ type: "command", command: "beckon hook claude" }] }] } };
    home.put(home.settings, JSON.stringify(hand));
    expect(await home.uninstall()).toBe("entries");
    expect(listOwnHooks(home.read())).toEqual([]);
  });

  test("takes away what an install that was killed left beside the settings", async () => {
    const home = temporaryHome();
    home.put(home.settings, '{"model":"opus"}');
    const before = home.tree();
    home.put(`${home.settings}.beckon-lock`, "");
    home.put(`${home.settings}.beckon-tmp`, '{"half');
    expect(await home.uninstall()).toBe("nothing");
    expect(home.tree()).toEqual(before);
  });

  test("where nothing is ours touches nothing", async () => {
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

  test("removes beckon's folders whole", async () => {
    const home = temporaryHome();
    await home.install();
    for (const name of [
      "auth-header",
      "snapshot.previous.json",
      "beckon.log.1",
      "snapshot.damaged-2026.json",
    ]) {
      home.put(join(home.places.state, name), "");
    }
    home.put(join(home.places.journal, "1.jsonl"), "");
    home.put(home.places.config, "{}");
    const plan = planPurge(home.places, usual);
    expect(plan.kept).toEqual([]);
    expect(purge(plan)).toEqual([]);
    expect(existsSync(home.places.state)).toBe(false);
    expect(existsSync(home.at(".config", "beckon"))).toBe(false);
  });

  test("leaves what somebody else put there, and says so", async () => {
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

  test("leaves a folder of the person's choice in which beckon never was", () => {
    const home = temporaryHome();
    home.put(home.at("disk", "backups", "photos.tar"), "precious");
    const disk = resolvePaths({ BECKON_HOME: home.at("disk") });
    purge(planPurge(disk, { isChosen: true, isBeckons: isBeckonHere(disk) }));
    expect(existsSync(home.at("disk", "backups", "photos.tar"))).toBe(true);
  });

  test("follows no link out of its folder, nor one in its place", async () => {
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
