import { type Argument, defineCommand, defineSubcommand } from "../command.ts";
import { json } from "./common.ts";

const key: Argument = { name: "KEY", values: "settings" };

export const configList = defineSubcommand({
  name: "config list",
  about: "every setting, its value, and where that comes from",
  options: { "--json": json },
});

export const configGet = defineSubcommand({
  name: "config get",
  about: "the value of a setting",
  arguments: [key],
  options: { "--json": json },
});

export const configSet = defineSubcommand({
  name: "config set",
  about: "change a setting in config.json, and nothing else in it",
  arguments: [key, { name: "VALUE", isRepeated: true }],
  options: { "--json": json },
});

export const configReset = defineSubcommand({
  name: "config reset",
  about: "back to the default",
  arguments: [key],
  options: { "--json": json },
});

export const configEdit = defineSubcommand({
  name: "config edit",
  about: "open config.json in your editor, and check it afterwards",
});

export const configCommand = defineCommand({
  name: "config",
  options: { "--json": json },
  subcommands: { list: configList, get: configGet, set: configSet, reset: configReset, edit: configEdit },
  defaultSubcommand: "list",
  suggestFor: { settings: "config list", preferences: "config list", set: "config set" },
  page: {
    overview: [
      ["beckon config list", configList.about],
      ["beckon config set KEY VALUE", configSet.about],
      ["beckon config edit", configEdit.about],
    ],
    summary:
      "Shows and changes your settings. What it writes into config.json is checked first, and everything else in the file stays as it is. The dashboard has the same settings.",
    examples: [
      ["beckon config set alerts.sound off", "no sounds"],
      ["beckon config set quietHours 22:00-08:00", "no alerts at night"],
      ["beckon config set mutedProjects playground dotfiles", "a list"],
      ["beckon config reset quietHours", configReset.about],
    ],
  },
});
