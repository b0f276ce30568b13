import { type Argument, defineCommand, defineSubcommand } from "../command.ts";
import { json } from "./common.ts";

const fleet = { value: "FLEET", about: "which fleet, if this machine is in several" } as const;
const yes = { about: "ask nothing, for scripts" } as const;
const name: Argument = { name: "NAME" };

const own = {
  "--as": { value: "NAME", about: "what the others call this machine; otherwise its host's name" },
  "--person": { value: "NAME", about: "whose machine this is; otherwise your login's name" },
  "--share": {
    value: "HOW MUCH",
    values: ["minimal", "summary", "full"],
    about: "minimal: who is blocked; summary: of what kind; full: everything, in a personal fleet",
  },
  "--answers": { isNegatable: true, about: "your other machines may answer here; not in a team" },
  "--ca": { value: "FILE", about: "the certificate of the server's own authority" },
  "--cert": { value: "FILE", about: "this machine's certificate, if the server wants one" },
  "--key": { value: "FILE", about: "and its key" },
} as const;

export const fleetCreate = defineSubcommand({
  name: "fleet create",
  about: "start a fleet on a server of Redis or Valkey, and print an invitation",
  arguments: [name],
  options: {
    "--url": {
      value: "URL",
      about: "rediss://user@host:6379/0; the password is asked for, or in BECKON_REDIS_PASSWORD",
    },
    "--team": { about: "for several people: they see who is blocked, and answer only for themselves" },
    ...own,
    "--json": json,
  },
});

export const fleetInvite = defineSubcommand({
  name: "fleet invite",
  about: "print another invitation: it works once, for ten minutes",
  options: { "--fleet": fleet, "--json": json },
});

export const fleetJoin = defineSubcommand({
  name: "fleet join",
  about: "use an invitation, on another machine; shows six words",
  arguments: [{ name: "INVITATION" }],
  options: { ...own, "--json": json },
});

export const fleetApprove = defineSubcommand({
  name: "fleet approve",
  about: "let a machine in that shows the same six words",
  options: { "--fleet": fleet, "--yes": yes, "--json": json },
});

export const fleetList = defineSubcommand({
  name: "fleet list",
  about: "the fleets of this machine, their members and what is shared",
  options: { "--json": json },
});

export const fleetRemove = defineSubcommand({
  name: "fleet remove",
  about: "remove a machine: it reads nothing that is said from now on",
  arguments: [{ name: "MACHINE" }],
  options: { "--fleet": fleet, "--yes": yes },
});

export const fleetRotate = defineSubcommand({
  name: "fleet rotate",
  about: "change the key that everything is encrypted with",
  options: { "--fleet": fleet },
});

export const fleetLeave = defineSubcommand({
  name: "fleet leave",
  about: "leave the fleet, and forget its keys here",
  options: { "--fleet": fleet, "--yes": yes },
});

export const fleetCommand = defineCommand({
  name: "fleet",
  options: { ...fleetCreate.options, "--fleet": fleet, "--yes": yes },
  subcommands: {
    create: fleetCreate,
    invite: fleetInvite,
    join: fleetJoin,
    approve: fleetApprove,
    list: fleetList,
    remove: fleetRemove,
    rotate: fleetRotate,
    leave: fleetLeave,
  },
  defaultSubcommand: "list",
  page: {
    overview: [
      ["beckon fleet create NAME --url URL", fleetCreate.about],
      ["beckon fleet join INVITATION", fleetJoin.about],
      ["beckon fleet approve", fleetApprove.about],
      ["beckon fleet list", fleetList.about],
    ],
    summary:
      "Shows the sessions of many machines to each other through a server of Redis, for machines that cannot be reached with ssh, and for teams. What they say is encrypted and signed: the server can only delay or drop it.",
    examples: [
      ["beckon fleet create home --url rediss://me@host:6379/0", ""],
      ["beckon fleet join beckon-fleet-…", "on each other machine"],
      ["beckon fleet approve", "on one that is in it"],
    ],
  },
});
