/** The user's part of the registry. */
import { toWide, win32 } from "./win32.ts";

export interface RegistryText {
  /** Below HKEY_CURRENT_USER. */
  readonly key: string;
  /** Empty for the key's default value. */
  readonly name: string;
  readonly text: string;
}

const HKEY_CURRENT_USER = 0xffffffff80000001n;
const REG_SZ = 1;

/** Returns what went wrong, or null. */
export function writeRegistry(values: readonly RegistryText[]): string | null {
  for (const { key, name, text } of values) {
    const data = toWide(text);
    const code = win32().RegSetKeyValueW(
      HKEY_CURRENT_USER,
      toWide(key),
      toWide(name),
      REG_SZ,
      data,
      data.length,
    );
    if (code !== 0) return `HKCU\\${key} cannot be written (error ${code})`;
  }
  return null;
}

/** Removes keys with everything below them, if they exist. */
export function removeRegistryKeys(keys: readonly string[]): void {
  for (const key of keys) win32().RegDeleteTreeW(HKEY_CURRENT_USER, toWide(key));
}

const RRF_RT_ANY = 0xffff;
const maxValueBytes = 64 * 1024;

/** Returns the raw bytes; null if there is no such value. */
export function readRegistryValue(key: string, name: string): Buffer | null {
  const data = Buffer.alloc(maxValueBytes);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  const value = [toWide(key), toWide(name)] as const;
  const code = win32().RegGetValueW(HKEY_CURRENT_USER, ...value, RRF_RT_ANY, null, data, size);
  return code === 0 ? data.subarray(0, size.readUInt32LE()) : null;
}

/** Removes a value, if it exists. */
export function removeRegistryValue(key: string, name: string): void {
  win32().RegDeleteKeyValueW(HKEY_CURRENT_USER, toWide(key), toWide(name));
}
