/**
 * The Windows API by bun:ffi. This folder holds everything that calls it: the tray's thread, toasts, the registry, windows
 * and processes. Handles are u64, so bigint; sizes and offsets are those of x64.
 */
import { dlopen, type Pointer } from "bun:ffi";
import { truncate } from "../../core/text/truncate.ts";

const user32 = {
  AllowSetForegroundWindow: { args: ["u32"], returns: "i32" },
  AppendMenuW: { args: ["u64", "u32", "u64", "ptr"], returns: "i32" },
  AttachThreadInput: { args: ["u32", "u32", "i32"], returns: "i32" },
  BringWindowToTop: { args: ["u64"], returns: "i32" },
  CloseDesktop: { args: ["u64"], returns: "i32" },
  CreateIconFromResourceEx: {
    args: ["ptr", "u32", "i32", "u32", "i32", "i32", "u32"],
    returns: "u64",
  },
  CreatePopupMenu: { args: [], returns: "u64" },
  CreateWindowExW: {
    args: ["u32", "ptr", "ptr", "u32", "i32", "i32", "i32", "i32", "u64", "u64", "u64", "ptr"],
    returns: "u64",
  },
  DefWindowProcW: { args: ["u64", "u32", "u64", "u64"], returns: "i64" },
  DestroyIcon: { args: ["u64"], returns: "i32" },
  DestroyMenu: { args: ["u64"], returns: "i32" },
  DestroyWindow: { args: ["u64"], returns: "i32" },
  DispatchMessageW: { args: ["ptr"], returns: "i64" },
  EndMenu: { args: [], returns: "i32" },
  FindWindowExW: { args: ["u64", "u64", "ptr", "ptr"], returns: "u64" },
  GetAncestor: { args: ["u64", "u32"], returns: "u64" },
  GetForegroundWindow: { args: [], returns: "u64" },
  GetLastInputInfo: { args: ["ptr"], returns: "i32" },
  GetSystemMetrics: { args: ["i32"], returns: "i32" },
  GetWindow: { args: ["u64", "u32"], returns: "u64" },
  GetWindowTextW: { args: ["u64", "ptr", "i32"], returns: "i32" },
  GetWindowThreadProcessId: { args: ["u64", "ptr"], returns: "u32" },
  IsIconic: { args: ["u64"], returns: "i32" },
  IsWindowVisible: { args: ["u64"], returns: "i32" },
  MsgWaitForMultipleObjectsEx: { args: ["u32", "ptr", "u32", "u32", "u32"], returns: "u32" },
  OpenInputDesktop: { args: ["u32", "i32", "u32"], returns: "u64" },
  PeekMessageW: { args: ["ptr", "u64", "u32", "u32", "u32"], returns: "i32" },
  PostMessageW: { args: ["u64", "u32", "u64", "u64"], returns: "i32" },
  RegisterClassExW: { args: ["ptr"], returns: "u16" },
  RegisterWindowMessageW: { args: ["ptr"], returns: "u32" },
  SetForegroundWindow: { args: ["u64"], returns: "i32" },
  SetThreadDpiAwarenessContext: { args: ["u64"], returns: "u64" },
  SetWindowLongPtrW: { args: ["u64", "i32", "u64"], returns: "u64" },
  ShowWindow: { args: ["u64", "i32"], returns: "i32" },
  SwitchToThisWindow: { args: ["u64", "i32"], returns: "void" },
  TrackPopupMenuEx: { args: ["u64", "u32", "i32", "i32", "u64", "ptr"], returns: "i32" },
  TranslateMessage: { args: ["ptr"], returns: "i32" },
  keybd_event: { args: ["u8", "u8", "u32", "u64"], returns: "void" },
} as const;

const shell32 = {
  SHQueryUserNotificationState: { args: ["ptr"], returns: "i32" },
  Shell_NotifyIconW: { args: ["u32", "ptr"], returns: "i32" },
} as const;

const kernel32 = {
  AttachConsole: { args: ["u32"], returns: "i32" },
  CloseHandle: { args: ["u64"], returns: "i32" },
  CreateToolhelp32Snapshot: { args: ["u32", "u32"], returns: "u64" },
  FreeConsole: { args: [], returns: "i32" },
  GetConsoleWindow: { args: [], returns: "u64" },
  GetCurrentThreadId: { args: [], returns: "u32" },
  GetProcAddress: { args: ["u64", "ptr"], returns: "u64" },
  GetModuleHandleW: { args: ["ptr"], returns: "u64" },
  GetProcessTimes: { args: ["u64", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
  GetSystemPowerStatus: { args: ["ptr"], returns: "i32" },
  GetTickCount: { args: [], returns: "u32" },
  OpenProcess: { args: ["u32", "i32", "u32"], returns: "u64" },
  Process32FirstW: { args: ["u64", "ptr"], returns: "i32" },
  Process32NextW: { args: ["u64", "ptr"], returns: "i32" },
  QueryFullProcessImageNameW: { args: ["u64", "u32", "ptr", "ptr"], returns: "i32" },
  SetConsoleCtrlHandler: { args: ["ptr", "i32"], returns: "i32" },
  SetThreadExecutionState: { args: ["u32"], returns: "u32" },
} as const;

const advapi32 = {
  RegDeleteKeyValueW: { args: ["u64", "ptr", "ptr"], returns: "i32" },
  RegDeleteTreeW: { args: ["u64", "ptr"], returns: "i32" },
  RegGetValueW: { args: ["u64", "ptr", "ptr", "u32", "ptr", "ptr", "ptr"], returns: "i32" },
  RegSetKeyValueW: { args: ["u64", "ptr", "ptr", "u32", "ptr", "u32"], returns: "i32" },
} as const;

function load() {
  return {
    ...dlopen("user32.dll", user32).symbols,
    ...dlopen("shell32.dll", shell32).symbols,
    ...dlopen("kernel32.dll", kernel32).symbols,
    ...dlopen("advapi32.dll", advapi32).symbols,
  };
}

let loaded: ReturnType<typeof load> | null = null;

/** Throws if a function is missing: an older Windows, or another system. */
export function win32(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

/** The address of the default window procedure. */
export function findDefaultProcedure(): bigint {
  const { GetModuleHandleW, GetProcAddress } = win32();
  return GetProcAddress(GetModuleHandleW(toWide("user32.dll")), Buffer.from("DefWindowProcW\0"));
}

const GWLP_WNDPROC = -4;

/** Sets what Windows calls for each message to the window. Any thread may do this. */
export function setWindowProcedure(window: bigint, address: bigint): void {
  win32().SetWindowLongPtrW(window, GWLP_WNDPROC, address);
}

/** UTF-16 with a terminating NUL. */
export function toWide(text: string): Buffer {
  return Buffer.from(`${text.replaceAll("\0", "")}\0`, "utf16le");
}

/** Cuts a text to whole characters that fit a field of `units` UTF-16 units with its NUL. A cut text ends with "…". */
export function fitField(text: string, units: number): string {
  return truncate(text.replaceAll("\0", ""), units - 1);
}

function writeField(into: Buffer, offset: number, units: number, text: string): void {
  into.write(fitField(text, units), offset, "utf16le");
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
export function createNotifyIconData(values: NotifyIcon): Buffer {
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

/** WNDCLASSEXW. The caller must keep `name` alive. */
export function createWindowClass(procedure: bigint, module: bigint, name: Pointer): Buffer {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(80, 0);
  data.writeBigUInt64LE(procedure, 8);
  data.writeBigUInt64LE(module, 24);
  data.writeBigUInt64LE(BigInt(name), 64);
  return data;
}

/** The size of MSG. */
export const messageBytes = 48;

/** Reads the text of a field up to its NUL. */
export function readWide(field: Buffer): string {
  const text = field.toString("utf16le");
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}
