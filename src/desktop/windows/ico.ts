/** The pictures in an .ico file. */

export interface IcoPicture {
  readonly size: number;
  /** A bitmap or a PNG, as CreateIconFromResourceEx takes it. */
  readonly bytes: Uint8Array;
}

export function picturesOf(ico: Uint8Array): IcoPicture[] {
  const view = new DataView(ico.buffer, ico.byteOffset, ico.byteLength);
  if (ico.length < 6 || view.getUint16(0, true) !== 0 || view.getUint16(2, true) !== 1) return [];
  const pictures: IcoPicture[] = [];
  for (let index = 0; index < view.getUint16(4, true); index++) {
    const entry = 6 + index * 16;
    if (entry + 16 > ico.length) break;
    const start = view.getUint32(entry + 12, true);
    const end = start + view.getUint32(entry + 8, true);
    // 0 stands for 256.
    if (end <= ico.length) pictures.push({ size: ico[entry] || 256, bytes: ico.subarray(start, end) });
  }
  return pictures;
}

/** The one to be shown at `size`: that size, else the next larger, else the largest. */
export function pictureFor(ico: Uint8Array, size: number): IcoPicture | null {
  const bySize = picturesOf(ico).sort((a, b) => a.size - b.size);
  return bySize.find((picture) => picture.size >= size) ?? bySize.at(-1) ?? null;
}
