import { type Argument, defineCommand, defineSubcommand } from "../command.ts";
import { json } from "./common.ts";

const name: Argument = { name: "NAME", values: "machines" };

const setupOptions = {
  "--binary": { value: "FILE", about: "the beckon to copy there; otherwise one that fits is chosen" },
  "--dry-run": { about: "only say what would be done" },
  "--yes": { about: "ask nothing, for scripts" },
} as const;

const addOptions = {
  "--name": { value: "NAME", about: "what to call it here; otherwise the host's name" },
  "--container": { value: "CONTAINER", about: "it is a container of docker or podman" },
  "--pod": { value: "POD", about: "it is a pod of kubectl" },
  "--wsl": { value: "DISTRIBUTION", about: "it is a distribution of WSL, on this Windows" },
  "--command": { value: "COMMAND", about: "any command that ends in: beckon link" },
  "--program": { value: "PATH", about: "where beckon is there; otherwise ~/.local/bin/beckon" },
  ...setupOptions,
} as const;

export const machineAdd = defineSubcommand({
  name: "machine add",
  about: "set beckon up on a machine, and show its sessions here",
  arguments: [{ name: "HOST" }],
  options: addOptions,
  usage: [
    "beckon machine add HOST [--name NAME]",
    "beckon machine add NAME --container CONTAINER | --pod POD | --wsl DISTRIBUTION | --command COMMAND",
  ],
});

export const machineUpdate = defineSubcommand({
  name: "machine update",
  about: "copy this version there, and restart beckon there",
  arguments: [name],
  options: setupOptions,
});

export const machineList = defineSubcommand({
  name: "machine list",
  about: "every machine: linked, since when, or why not",
  options: { "--json": json },
});

export const machineTest = defineSubcommand({
  name: "machine test",
  about: "link it once, send a test event, and say what works",
  arguments: [name],
});

export const machineRemove = defineSubcommand({
  name: "machine remove",
  about: "show its sessions here no longer; nothing changes there",
  arguments: [name],
});

export const machineCommand = defineCommand({
  name: "machine",
  options: { ...addOptions, "--json": json },
  subcommands: {
    add: machineAdd,
    list: machineList,
    test: machineTest,
    update: machineUpdate,
    remove: machineRemove,
  },
  defaultSubcommand: "list",
  page: {
    overview: [
      ["beckon machine add HOST", machineAdd.about],
      ["beckon machine list", machineList.about],
      ["beckon machine test NAME", machineTest.about],
      ["beckon machine update NAME", machineUpdate.about],
      ["beckon machine remove NAME", machineRemove.about],
    ],
    summary:
      "Shows the sessions of another machine here, over ssh or in a container, and lets you answer them. `add` copies beckon there, connects the agents there, and says each step before it does it.",
    examples: [
      ["beckon machine add devbox", "a host of ~/.ssh/config"],
      ["beckon machine add devbox --dry-run", "looks at it, and says what would be done"],
      ["beckon machine add me@10.0.0.7 --name box", ""],
      ["beckon machine add web --container web", "docker or podman, whichever is there"],
    ],
  },
});
