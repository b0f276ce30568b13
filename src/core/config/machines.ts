/** The settings of other machines: how each is reached. What runs there is in src/machines. */
import { type Static, Type } from "@sinclair/typebox";
import { Check } from "@sinclair/typebox/value";
import { limits } from "../limits.ts";
import { truncateEnd } from "../text/text.ts";

/** Never an option of the program that gets it. */
const target = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: "^[^-\\s\\u0000-\\u001f][^\\s\\u0000-\\u001f]*$",
});
const program = Type.Optional(
  Type.String({ minLength: 1, maxLength: limits.maxPathLength, pattern: "^[^\\u0000-\\u001f'\"`$\\\\]+$" }),
);

const Machine = Type.Union([
  Type.Object({ ssh: target, program }, { additionalProperties: false }),
  Type.Object({ container: target, program }, { additionalProperties: false }),
  Type.Object({ pod: target, program }, { additionalProperties: false }),
  Type.Object({ wsl: target, program }, { additionalProperties: false }),
  Type.Object(
    { command: Type.Array(Type.String({ maxLength: limits.maxPathLength }), { minItems: 1, maxItems: 64 }) },
    { additionalProperties: false },
  ),
]);

/** One of: a host of ssh, a container, a pod, a WSL distribution, a command that ends in `beckon link`. */
export type MachineSettings = Static<typeof Machine>;
/** How a machine is reached. */
export const machineWays = ["ssh", "container", "pod", "wsl", "command"] as const;
export type MachineWay = (typeof machineWays)[number];

/** The way, and the host, container, pod or distribution; null for a command. */
export function describeWay(machine: MachineSettings): {
  readonly way: MachineWay;
  readonly target: string | null;
} {
  const way = machineWays.find((each) => each in machine) ?? "command";
  const target = (machine as Readonly<Record<string, unknown>>)[way];
  return { way, target: typeof target === "string" ? target : null };
}

export type RawMachines = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const maxMachines = 100;
const namePattern = /^[A-Za-z0-9][\w.-]{0,39}$/;

export const isMachineName = (name: string): boolean => namePattern.test(name);
export const wrongMachineName =
  "is not a name for a machine: letters, digits, dots, dashes and underscores, 40 at most";

/** null if it is not valid. */
export const readMachine = (value: unknown): MachineSettings | null => (isMachine(value) ? value : null);

const isMachine = (value: unknown): value is MachineSettings => Check(Machine, value);

const listNames = (machines: RawMachines): string[] =>
  Object.keys(machines).filter((name) => !name.startsWith("//"));

export function findMachineMistakes(machines: RawMachines): string[] {
  const names = listNames(machines);
  const tooMany =
    names.length > maxMachines ? [`there are ${names.length}, but at most ${maxMachines} are used`] : [];
  return [
    ...tooMany,
    ...names.flatMap((name) => {
      if (!isMachineName(name)) return [`${truncateEnd(JSON.stringify(name), 40)} ${wrongMachineName}`];
      return isMachine(machines[name])
        ? []
        : [`${name} must say how it is reached, like {"ssh": "user@host"} or {"container": "web"}`];
    }),
  ];
}

export function dropInvalidMachines(machines: RawMachines): Record<string, MachineSettings> {
  const valid = listNames(machines).flatMap((name): [string, MachineSettings][] => {
    const machine = machines[name];
    return isMachineName(name) && isMachine(machine) ? [[name, machine]] : [];
  });
  return Object.fromEntries(valid.slice(0, maxMachines));
}
