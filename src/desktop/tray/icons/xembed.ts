import { readFileSync } from "node:fs";
import blocked0 from "../../../../assets/linux/blocked-0.png" with { type: "file" };
import blocked1 from "../../../../assets/linux/blocked-1.png" with { type: "file" };
import blocked2 from "../../../../assets/linux/blocked-2.png" with { type: "file" };
import blocked3 from "../../../../assets/linux/blocked-3.png" with { type: "file" };
import blocked4 from "../../../../assets/linux/blocked-4.png" with { type: "file" };
import blocked5 from "../../../../assets/linux/blocked-5.png" with { type: "file" };
import blocked6 from "../../../../assets/linux/blocked-6.png" with { type: "file" };
import blocked7 from "../../../../assets/linux/blocked-7.png" with { type: "file" };
import blocked8 from "../../../../assets/linux/blocked-8.png" with { type: "file" };
import blocked9 from "../../../../assets/linux/blocked-9.png" with { type: "file" };
import blocked10 from "../../../../assets/linux/blocked-10.png" with { type: "file" };
import calm from "../../../../assets/linux/calm.png" with { type: "file" };
import working from "../../../../assets/linux/working.png" with { type: "file" };
import type { TrayIcon } from "../../../core/view/view.ts";
import { findIconFile, type IconFiles } from "./index.ts";

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

/** 24 pixels, for systray2's helper on Linux. */
export const readPng = (icon: TrayIcon): Buffer => readFileSync(findIconFile(files, icon));
