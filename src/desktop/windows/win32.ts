/** The few functions of Windows that beckon calls. Handles are u64, so bigint; sizes and offsets are those of x64. */
import { dlopen } from "bun:ffi";

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
  CloseHandle: { args: ["u64"], returns: "i32" },
  CreateToolhelp32Snapshot: { args: ["u32", "u32"], returns: "u64" },
  GetCurrentThreadId: { args: [], returns: "u32" },
  GetProcAddress: { args: ["u64", "ptr"], returns: "u64" },
  GetModuleHandleW: { args: ["ptr"], returns: "u64" },
  GetProcessTimes: { args: ["u64", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
  GetTickCount: { args: [], returns: "u32" },
  OpenProcess: { args: ["u32", "i32", "u32"], returns: "u64" },
  Process32FirstW: { args: ["u64", "ptr"], returns: "i32" },
  Process32NextW: { args: ["u64", "ptr"], returns: "i32" },
  QueryFullProcessImageNameW: { args: ["u64", "u32", "ptr", "ptr"], returns: "i32" },
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

/** Throws where a function is missing: an older Windows, or none at all. */
export function win32(): ReturnType<typeof load> {
  loaded ??= load();
  return loaded;
}

/** What a window does that nobody told anything else. */
export function addressOfDefWindowProc(): bigint {
  const { GetModuleHandleW, GetProcAddress } = win32();
  return GetProcAddress(
    GetModuleHandleW(Buffer.from("user32.dll\0", "utf16le")),
    Buffer.from("DefWindowProcW\0"),
  );
}

const GWLP_WNDPROC = -4;

/** What Windows calls for each message to the window. From any thread. */
export function setProcedure(window: bigint, address: bigint): void {
  win32().SetWindowLongPtrW(window, GWLP_WNDPROC, address);
}
