import { type Argument, defineCommand, defineSubcommand } from "../command.ts";
import { json } from "./common.ts";

const name: Argument = { name: "NAME", values: "channels" };

export const channelAdd = defineSubcommand({
  name: "channel add",
  arguments: [name],
});

export const channelTest = defineSubcommand({
  name: "channel test",
  arguments: [name],
});

export const channelList = defineSubcommand({
  name: "channel list",
  options: { "--json": json },
});

export const channelRemove = defineSubcommand({
  name: "channel remove",
  arguments: [name],
});

export const channelCommand = defineCommand({
  name: "channel",
  options: { "--json": json },
  subcommands: { add: channelAdd, test: channelTest, list: channelList, remove: channelRemove },
  defaultSubcommand: "list",
  page: {
    overview: [
      ["beckon channel add NAME", "send alerts to your phone or chat: asks, tests, saves"],
      ["beckon channel test NAME", "send a test message there"],
      ["beckon channel list", "every channel, and whether it works"],
      ["beckon channel remove NAME", "send nothing there any more"],
    ],
    summary:
      "Sends alerts to your phone or chat, and takes answers from there if you turn that on. NAME is yours to choose, like phone.",
    examples: [
      ["beckon channel add phone", "asks which service, tests it, and saves it"],
      ["beckon channel test phone", "waits for your tap if answers are on"],
      ["beckon channel remove phone", "removes its settings and its secrets"],
    ],
  },
});
