/** Texts and structures as Windows reads them (x64). */
import type { Pointer } from "bun:ffi";

/** UTF-16 with its end. */
export function wide(text: string): Buffer {
  return Buffer.from(`${text.replaceAll("\0", "")}\0`, "utf16le");
}

/** As many whole characters as a field of `units` UTF-16 units holds beside its end; what is cut ends with "…". */
export function fit(text: string, units: number): string {
  const clean = text.replaceAll("\0", "");
  if (clean.length < units) return clean;
  const cut = clean.slice(0, units - 2);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

function writeField(into: Buffer, offset: number, units: number, text: string): void {
  into.write(fit(text, units), offset, "utf16le");
}

const notifyIconBytes = 976;

export interface NotifyIcon {
  readonly window: bigint;
  readonly id: number;
  readonly flags: number;
  readonly callbackMessage?: number;
  readonly icon?: bigint;
  readonly tip?: string;
  readonly balloon?: { readonly title: string; readonly text: string; readonly flags: number };
  readonly version?: number;
}

/** NOTIFYICONDATAW. */
export function notifyIconData(values: NotifyIcon): Buffer {
  const data = Buffer.alloc(notifyIconBytes);
  data.writeUInt32LE(notifyIconBytes, 0);
  data.writeBigUInt64LE(values.window, 8);
  data.writeUInt32LE(values.id, 16);
  data.writeUInt32LE(values.flags, 20);
  data.writeUInt32LE(values.callbackMessage ?? 0, 24);
  data.writeBigUInt64LE(values.icon ?? 0n, 32);
  writeField(data, 40, 128, values.tip ?? "");
  writeField(data, 304, 256, values.balloon?.text ?? "");
  data.writeUInt32LE(values.version ?? 0, 816);
  writeField(data, 820, 64, values.balloon?.title ?? "");
  data.writeUInt32LE(values.balloon?.flags ?? 0, 948);
  return data;
}

/** WNDCLASSEXW. The caller keeps `name` alive. */
export function windowClass(procedure: bigint, module: bigint, name: Pointer): Buffer {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(80, 0);
  data.writeBigUInt64LE(procedure, 8);
  data.writeBigUInt64LE(module, 24);
  data.writeBigUInt64LE(BigInt(name), 64);
  return data;
}

export const messageBytes = 48;

/** Up to its end. */
export function textIn(field: Buffer): string {
  const text = field.toString("utf16le");
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}
