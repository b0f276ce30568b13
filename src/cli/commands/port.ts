import { type Argument, defineCommand, defineSubcommand, type OptionTable } from "../command.ts";
import { json } from "./common.ts";

/** In the order of the page. */
const options = {
  "--title": { value: "TITLE", about: "what the work is, in one line" },
  "--depends-on": { value: "ID", values: "ports", isList: true, about: "ports that have to end first" },
  "--session": {
    value: "SESSION",
    values: "sessions",
    about: "start it for this session: its id, the start of it, or its project",
  },
  "--note": { value: "TEXT", about: "what to remember about it" },
  "--project": { value: "FOLDER", values: "folders", about: "another project than that of this folder" },
  "--all": { about: "also ports that have ended" },
  "--json": json,
} as const satisfies OptionTable;

const project = { "--project": options["--project"] } as const;
const id: Argument = { name: "ID", values: "ports" };

export const portCreate = defineSubcommand({
  name: "port create",
  about: "name a piece of work",
  // A new one.
  arguments: [{ name: "ID" }],
  options: { ...project, "--title": options["--title"], "--depends-on": options["--depends-on"] },
  usage: ["beckon port create ID --title TITLE [--depends-on ID…]"],
});

export const portStart = defineSubcommand({
  name: "port start",
  about: "work on it from now on",
  arguments: [id],
  options: { ...project, "--session": options["--session"] },
  usage: ["beckon port start ID [--session SESSION]"],
});

export const portEnd = defineSubcommand({
  name: "port end",
  about: "it is done",
  arguments: [{ ...id, isOptional: true }],
  options: { ...project, "--note": options["--note"] },
  usage: ["beckon port end [ID] [--note TEXT]"],
});

export const portList = defineSubcommand({
  name: "port list",
  about: "named pieces of work that edits belong to",
  options: { "--all": options["--all"], "--json": json, ...project },
  usage: ["beckon port list [--all] [--json]"],
});

export const portShow = defineSubcommand({
  name: "port show",
  about: "everything about one of them",
  arguments: [id],
  options: { "--json": json, ...project },
  usage: ["beckon port show ID [--json]"],
});

export const portCheck = defineSubcommand({
  name: "port check",
  about: "ask the work guard about an edit",
  usage: ["beckon port check < payload.json"],
});

export const portCommand = defineCommand({
  name: "port",
  options,
  subcommands: {
    create: portCreate,
    start: portStart,
    end: portEnd,
    list: portList,
    show: portShow,
    check: portCheck,
  },
  page: {
    overview: [["beckon port list", portList.about]],
    summary:
      "Ports are named pieces of work in a project. A port that an agent starts counts for its session; one that you start, for every session of the project. With the work guard on, edits without a running port are refused or recorded.",
    examples: [
      ['beckon port create login --title "Log in with a passkey"', ""],
      ["beckon port start login", ""],
      ['beckon port end login --note "works in Safari too"', ""],
    ],
  },
});
