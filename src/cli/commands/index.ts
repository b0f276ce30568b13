/** The commands: one definition each, in groups, as `beckon help` lists them. A new command is a file here and a line below. */
import type { CommandGroups } from "../command.ts";
import { answerCommand } from "./answer.ts";
import { channelCommand } from "./channel.ts";
import { completionsCommand } from "./completions.ts";
import { configCommand } from "./config.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { fleetCommand } from "./fleet.ts";
import { focusCommand } from "./focus.ts";
import { helpCommand, versionCommand } from "./help.ts";
import { historyCommand } from "./history.ts";
import { clickCommand, hookCommand, linkCommand } from "./internal.ts";
import { logCommand } from "./log.ts";
import { machineCommand } from "./machine.ts";
import { openCommand } from "./open.ts";
import { portCommand } from "./port.ts";
import { quietCommand } from "./quiet.ts";
import { restartCommand } from "./restart.ts";
import { rulesCommand, trustCommand } from "./rules.ts";
import { runCommand } from "./run.ts";
import { sendCommand } from "./send.ts";
import { installCommand, uninstallCommand } from "./setup.ts";
import { dismissCommand, muteCommand, snoozeCommand } from "./silence.ts";
import { startCommand } from "./start.ts";
import { statsCommand } from "./stats.ts";
import { statusCommand } from "./status.ts";
import { stopCommand } from "./stop.ts";
import { updateCommand } from "./update.ts";

export const commandGroups: CommandGroups = [
  [
    { ...installCommand, load: async () => (await import("../install.ts")).install },
    { ...updateCommand, load: async () => (await import("../update.ts")).update },
    { ...uninstallCommand, load: async () => (await import("../uninstall.ts")).uninstall },
  ],
  [
    { ...startCommand, load: async () => (await import("../start.ts")).start },
    { ...runCommand, load: async () => (await import("../run.ts")).run },
    { ...restartCommand, load: async () => (await import("../restart.ts")).restart },
    { ...stopCommand, load: async () => (await import("../stop.ts")).stop },
  ],
  [
    { ...statusCommand, load: async () => (await import("../status.ts")).status },
    { ...openCommand, load: async () => (await import("../open.ts")).open },
    { ...focusCommand, load: async () => (await import("../focus.ts")).focus },
    { ...answerCommand, load: async () => (await import("../answer.ts")).answer },
    { ...sendCommand, load: async () => (await import("../send.ts")).send },
    { ...rulesCommand, load: async () => (await import("../rules.ts")).rules },
    { ...trustCommand, load: async () => (await import("../rules.ts")).trust },
  ],
  [
    { ...muteCommand, load: async () => (await import("../silence.ts")).mute },
    { ...snoozeCommand, load: async () => (await import("../silence.ts")).snooze },
    { ...dismissCommand, load: async () => (await import("../silence.ts")).dismiss },
    { ...quietCommand, load: async () => (await import("../quiet.ts")).quiet },
  ],
  [
    { ...configCommand, load: async () => (await import("../config.ts")).config },
    { ...channelCommand, load: async () => (await import("../channel.ts")).channel },
    { ...machineCommand, load: async () => (await import("../machine.ts")).machine },
    { ...fleetCommand, load: async () => (await import("../fleet.ts")).fleet },
    { ...logCommand, load: async () => (await import("../log.ts")).log },
    { ...historyCommand, load: async () => (await import("../history.ts")).history },
    { ...statsCommand, load: async () => (await import("../stats.ts")).stats },
    { ...portCommand, load: async () => (await import("../port.ts")).port },
    { ...demoCommand, load: async () => (await import("../demo.ts")).demo },
    { ...doctorCommand, load: async () => (await import("../doctor.ts")).doctor },
    { ...completionsCommand, load: async () => (await import("../completions.ts")).completions },
    { ...helpCommand, load: async () => (await import("../help.ts")).help },
    hookCommand,
    { ...linkCommand, load: async () => (await import("../link.ts")).link },
    { ...versionCommand, load: async () => (await import("../help.ts")).version },
    { ...clickCommand, load: async () => (await import("../click.ts")).click },
  ],
];
