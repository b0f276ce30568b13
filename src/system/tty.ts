/** The name of a terminal's device. No imports: it is loaded at every hook. */

/** `device` is tty_nr of /proc/PID/stat: the minor number is in bits 31–20 and 7–0, the major in bits 15–8. null if there is none. */
export function formatTty(device: number): string | null {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  if (major >= 136 && major <= 143) return `/dev/pts/${(major - 136) * 256 + minor}`;
  if (major === 4) return minor < 64 ? `/dev/tty${minor}` : `/dev/ttyS${minor - 64}`;
  return null;
}
