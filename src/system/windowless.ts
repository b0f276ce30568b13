/**
 * beckonw.exe: the same program as beckon.exe beside it, which Windows starts without a console window, for login and clicks on
 * toasts. `conhost --headless`, the other way, is what malware rules look for.
 */

/** beckonw.exe for beckon.exe; null if the program is not called that, as from source. */
export function windowlessPathOf(program: string): string | null {
  return /[\\/]beckon\.exe$/i.test(program) ? program.replace(/\.exe$/i, "w.exe") : null;
}

/** beckon.exe for beckonw.exe, which prints nothing; any other program is itself. */
export const consolePathOf = (program: string): string =>
  program.endsWith("exe") ? program.replace(/([\\/]beckon)w\.exe$/i, "$1.exe") : program;

const signatureAt = 0x3c;
const subsystemAt = 24 + 68;
const consoleSubsystem = 3;
const windowSubsystem = 2;

/** Changes the program to one without a console. It must not be signed, because that makes a signature invalid. */
export function removeConsole(program: Buffer): void {
  const at = program.readUInt32LE(signatureAt);
  if (program.toString("latin1", at, at + 4) !== "PE\0\0") throw new Error("not a program for Windows");
  const subsystem = program.readUInt16LE(at + subsystemAt);
  if (subsystem !== consoleSubsystem) throw new Error(`not a console program, but of subsystem ${subsystem}`);
  program.writeUInt16LE(windowSubsystem, at + subsystemAt);
}
