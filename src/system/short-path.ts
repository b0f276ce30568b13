/** The 8.3 name of a path on Windows: without spaces and foreign letters, so that every shell takes it for one word. */
import { dlopen } from "bun:ffi";

const maxUnits = 1024;

/** The path itself on other systems, for a file that does not exist, and on disks that keep no short names. */
export function findShortPath(path: string): string {
  if (process.platform !== "win32") return path;
  const kernel32 = dlopen("kernel32.dll", {
    GetShortPathNameW: { args: ["ptr", "ptr", "u32"], returns: "u32" },
  });
  try {
    const short = Buffer.alloc(maxUnits * 2);
    const units = kernel32.symbols.GetShortPathNameW(Buffer.from(`${path}\0`, "utf16le"), short, maxUnits);
    return units > 0 && units < maxUnits ? short.toString("utf16le", 0, units * 2) : path;
  } finally {
    kernel32.close();
  }
}
