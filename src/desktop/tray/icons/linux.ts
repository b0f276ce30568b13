import { readFileSync } from "node:fs";
import blocked0 from "../../../../assets/linux/blocked-0.argb" with { type: "file" };
import blocked1 from "../../../../assets/linux/blocked-1.argb" with { type: "file" };
import blocked2 from "../../../../assets/linux/blocked-2.argb" with { type: "file" };
import blocked3 from "../../../../assets/linux/blocked-3.argb" with { type: "file" };
import blocked4 from "../../../../assets/linux/blocked-4.argb" with { type: "file" };
import blocked5 from "../../../../assets/linux/blocked-5.argb" with { type: "file" };
import blocked6 from "../../../../assets/linux/blocked-6.argb" with { type: "file" };
import blocked7 from "../../../../assets/linux/blocked-7.argb" with { type: "file" };
import blocked8 from "../../../../assets/linux/blocked-8.argb" with { type: "file" };
import blocked9 from "../../../../assets/linux/blocked-9.argb" with { type: "file" };
import blocked10 from "../../../../assets/linux/blocked-10.argb" with { type: "file" };
import calm from "../../../../assets/linux/calm.argb" with { type: "file" };
import working from "../../../../assets/linux/working.argb" with { type: "file" };
import type { TrayIcon } from "../../../core/view/view.ts";
import { findIconFile, type IconFiles } from "./index.ts";

/** ARGB32, most significant byte first, as StatusNotifierItem takes it. */
export type Pixmap = [width: number, height: number, bytes: Buffer];

/** The pictures in each file, one after the other. */
const sizes = [16, 22, 24, 32, 48] as const;

const files: IconFiles = {
  calm,
  working,
  blocked: [
    blocked0,
    blocked1,
    blocked2,
    blocked3,
    blocked4,
    blocked5,
    blocked6,
    blocked7,
    blocked8,
    blocked9,
    blocked10,
  ],
};

export function readPixmaps(icon: TrayIcon): Pixmap[] {
  const bytes = readFileSync(findIconFile(files, icon));
  let end = 0;
  return sizes.map((size) => {
    const start = end;
    end += size * size * 4;
    return [size, size, bytes.subarray(start, end)];
  });
}
