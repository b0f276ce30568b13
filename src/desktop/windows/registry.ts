/** The person's own part of the registry. */
import { wide } from "./layout.ts";
import { win32 } from "./win32.ts";

export interface RegistryText {
  /** Below HKEY_CURRENT_USER. */
  readonly key: string;
  /** Empty: the key's own value. */
  readonly name: string;
  readonly text: string;
}

const HKEY_CURRENT_USER = 0xffffffff80000001n;
const REG_SZ = 1;

/** What went wrong, or null. */
export function writeRegistry(values: readonly RegistryText[]): string | null {
  for (const { key, name, text } of values) {
    const data = wide(text);
    const code = win32().RegSetKeyValueW(HKEY_CURRENT_USER, wide(key), wide(name), REG_SZ, data, data.length);
    if (code !== 0) return `HKCU\\${key} cannot be written (error ${code})`;
  }
  return null;
}

/** With all that is below them. Keys that are not there are no fault. */
export function removeRegistryKeys(keys: readonly string[]): void {
  for (const key of keys) win32().RegDeleteTreeW(HKEY_CURRENT_USER, wide(key));
}

const RRF_RT_ANY = 0xffff;
const maxValueBytes = 64 * 1024;

/** As it lies there; null: there is none. */
export function readRegistryValue(key: string, name: string): Buffer | null {
  const data = Buffer.alloc(maxValueBytes);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(data.length);
  const at = [wide(key), wide(name)] as const;
  const code = win32().RegGetValueW(HKEY_CURRENT_USER, ...at, RRF_RT_ANY, null, data, size);
  return code === 0 ? data.subarray(0, size.readUInt32LE()) : null;
}

/** One that is not there is no fault. */
export function removeRegistryValue(key: string, name: string): void {
  win32().RegDeleteKeyValueW(HKEY_CURRENT_USER, wide(key), wide(name));
}
