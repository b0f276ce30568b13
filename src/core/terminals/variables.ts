/** Variables of the environment that show where a terminal is, and the shapes that their values must have. */

/** The name of a variable → what its value must look like. */
export type Shapes = Readonly<Record<string, RegExp>>;

export const digits = (most: number): RegExp => new RegExp(`^\\d{1,${most}}$`);
export const uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/** The path of a socket or folder, without anything that a shell, an option or `..` could be made of. */
export const path = "(?:/(?!\\.\\.?(?:/|$))[\\p{L}\\p{N}_.@+][\\p{L}\\p{N}_.@+ -]{0,99}){1,20}";
export const wholePath = new RegExp(`^${path}$`, "u");
export const isSet = /./;

/** Variables that do not belong to one terminal. */
export const commonVariables = {
  WINDOWID: digits(10),
  __CFBundleIdentifier: /^[A-Za-z0-9][A-Za-z0-9-]{0,60}(?:\.[A-Za-z0-9-]{1,60}){1,8}$/,
  WSL_DISTRO_NAME: /^[\w.+-]{1,64}$/,
} satisfies Shapes;

/**
 * The value of a variable, which may go into a command. null if it is not set or does not have its shape: any program
 * can have set it, and events carry it.
 */
export function readVariable<Name extends string>(
  env: Readonly<Record<string, string | undefined>>,
  shapes: Readonly<Record<Name, RegExp>>,
  name: Name,
): string | null {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  return value !== undefined && shapes[name]?.test(value) ? value : null;
}

const ttyShape = /^\/dev\/(?:pts\/\d{1,6}|tty[sS]?[0-9a-zA-Z]{1,8})$/;

/** Whether it is the path of a terminal, and may go into a command. */
export const isTtyPath = (tty: string | null): tty is string => tty !== null && ttyShape.test(tty);
