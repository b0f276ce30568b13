/** Which beckon runs on another machine: what a program is built for, and where one that fits is found here. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a program is built for, or a machine runs. null where it is something else, or unknown. */
export interface ProgramTarget {
  readonly system: "linux" | "darwin" | "windows" | null;
  readonly cpu: "x64" | "arm64" | null;
  /** Linux alone has several. null also for a program that needs none. */
  readonly libc: "glibc" | "musl" | null;
}

const systemNames = { linux: "Linux", darwin: "macOS", windows: "Windows" } as const;

/** "Linux arm64", "Linux x64 with musl" */
export function describeTarget({ system, cpu, libc }: ProgramTarget): string {
  const name = system === null ? "an unknown system" : systemNames[system];
  return `${name} ${cpu ?? "with an unknown CPU"}${libc === "musl" ? " with musl" : ""}`;
}

/** How much of a file `readTarget` needs: headers, and the name of the loader. */
const headerBytes = 64 * 1_024;

/** null if it is not a program for 64 bits. */
export async function readTarget(path: string): Promise<ProgramTarget | null> {
  return parseTarget(new Uint8Array(await Bun.file(path).slice(0, headerBytes).arrayBuffer()));
}

/** From the start of the file. */
export function parseTarget(start: Uint8Array): ProgramTarget | null {
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  try {
    if (view.getUint32(0) === 0x7f454c46 && view.getUint8(4) === 2) return parseElf(view);
    if (view.getUint32(0, true) === 0xfeedfacf)
      return { system: "darwin", cpu: machoCpus[view.getUint32(4, true)] ?? null, libc: null };
    const header = view.getUint16(0) === 0x4d5a ? view.getUint32(0x3c, true) : 0;
    if (header > 0 && view.getUint32(header) === 0x50450000)
      return { system: "windows", cpu: peCpus[view.getUint16(header + 4, true)] ?? null, libc: null };
  } catch (error) {
    // It ends too early.
    if (!(error instanceof RangeError)) throw error;
  }
  return null;
}

type Cpus = Readonly<Record<number, ProgramTarget["cpu"]>>;
const elfCpus: Cpus = { 62: "x64", 183: "arm64" };
const machoCpus: Cpus = { 16777223: "x64", 16777228: "arm64" };
const peCpus: Cpus = { 34404: "x64", 43620: "arm64" };
const interpreterSegment = 3;

function parseElf(view: DataView): ProgramTarget | null {
  // Every CPU that beckon is built for has the least significant byte first.
  if (view.getUint8(5) !== 1) return { system: "linux", cpu: null, libc: null };
  const loader = findLoader(view);
  const libc = loader === null ? null : loader.includes("musl") ? "musl" : "glibc";
  return { system: "linux", cpu: elfCpus[view.getUint16(18, true)] ?? null, libc };
}

/** The path of the loader that the program names. */
function findLoader(view: DataView): string | null {
  const [table, size, count] = [
    Number(view.getBigUint64(32, true)),
    view.getUint16(54, true),
    view.getUint16(56, true),
  ];
  for (let n = 0; n < count; n++) {
    const entry = table + n * size;
    if (view.getUint32(entry, true) !== interpreterSegment) continue;
    const from = Number(view.getBigUint64(entry + 8, true));
    const length = Number(view.getBigUint64(entry + 32, true));
    if (from + length > view.byteLength) return null;
    return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + from, length));
  }
  return null;
}

/** Whether a program runs on the machine, as far as can be told from here. */
export function fits(program: ProgramTarget, machine: ProgramTarget): boolean {
  if (program.system !== machine.system || program.cpu !== machine.cpu) return false;
  return program.libc === null || machine.libc === null || program.libc === machine.libc;
}

/** What the target is called in a release: `linux-x64-musl`. null if there is no such target. */
export function nameTarget({ system, cpu, libc }: ProgramTarget): string | null {
  if (system === null || cpu === null) return null;
  return `${system}-${cpu}${libc === "musl" ? "-musl" : ""}`;
}

/** What a build for this machine is called. null if there is none. */
function nameBuild(machine: ProgramTarget): string | null {
  const target = nameTarget(machine);
  return target && `beckon-${target}${machine.system === "windows" ? ".exe" : ""}`;
}

export interface LocalProgram {
  readonly path: string;
  /** On Linux the file of a running program stays readable even if its name is gone. */
  readonly readFrom: string;
}

/** A program that can be copied to the machine. */
export interface ChosenProgram {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Where a build for another system is looked for, in this order. Releases have no public address yet: what downloads one from there
 * is one more of these.
 */
const places: readonly ((name: string, own: LocalProgram) => string | null)[] = [
  (name, own) => {
    const path = join(dirname(own.path), name);
    return existsSync(path) ? path : null;
  },
];

/** Resolves with a text if there is none that fits: why, and what to do. */
export async function chooseProgram(
  machine: ProgramTarget,
  given: string | null,
  own: LocalProgram | null,
): Promise<ChosenProgram | string> {
  if (given !== null) return checkGiven(given, machine);
  const ownTarget = own && (await readTarget(own.readFrom));
  if (own && ownTarget && fits(ownTarget, machine)) return measure(own.readFrom);
  const name = nameBuild(machine);
  const there = describeTarget(machine);
  if (name === null) return `beckon is not built for ${there}`;
  const found = own && places.map((find) => find(name, own)).find((path) => path !== null);
  if (found) return measure(found);
  return `there is no beckon for ${there} here. Get ${name} of this release, and add: --binary ${name}`;
}

async function checkGiven(path: string, machine: ProgramTarget): Promise<ChosenProgram | string> {
  if (!existsSync(path)) return `${path} does not exist`;
  const target = await readTarget(path);
  if (target === null) return `${path} is not a program`;
  if (fits(target, machine)) return measure(path);
  return `${path} is built for ${describeTarget(target)}, but this machine is ${describeTarget(machine)}`;
}

const measure = (path: string): ChosenProgram => ({ path, bytes: Bun.file(path).size });
