import { type Argument, defineCommand, defineSubcommand } from "../command.ts";
import { json } from "./common.ts";

const name: Argument = { name: "NAME", values: "channels" };

export const channelAdd = defineSubcommand({
  name: "channel add",
  about: "send alerts to your phone or chat: asks, tests, saves",
  arguments: [name],
});

export const channelTest = defineSubcommand({
  name: "channel test",
  about: "send a test message there",
  arguments: [name],
});

export const channelList = defineSubcommand({
  name: "channel list",
  about: "every channel, and whether it works",
  options: { "--json": json },
});

export const channelRemove = defineSubcommand({
  name: "channel remove",
  about: "send nothing there any more",
  arguments: [name],
});

export const channelCommand = defineCommand({
  name: "channel",
  options: { "--json": json },
  subcommands: { add: channelAdd, test: channelTest, list: channelList, remove: channelRemove },
  defaultSubcommand: "list",
  page: {
    overview: [
      ["beckon channel add NAME", channelAdd.about],
      ["beckon channel test NAME", channelTest.about],
      ["beckon channel list", channelList.about],
      ["beckon channel remove NAME", channelRemove.about],
    ],
    summary:
      "Sends alerts to your phone or chat, and takes answers from there if you turn that on. NAME is yours to choose, like phone.",
    examples: [
      ["beckon channel add phone", channelAdd.about],
      ["beckon channel test phone", channelTest.about],
      ["beckon channel remove phone", channelRemove.about],
    ],
  },
});
