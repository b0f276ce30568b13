import { readFileSync } from "node:fs";
import blocked0 from "../../../../assets/macos/blocked-0.png" with { type: "file" };
import blocked1 from "../../../../assets/macos/blocked-1.png" with { type: "file" };
import blocked2 from "../../../../assets/macos/blocked-2.png" with { type: "file" };
import blocked3 from "../../../../assets/macos/blocked-3.png" with { type: "file" };
import blocked4 from "../../../../assets/macos/blocked-4.png" with { type: "file" };
import blocked5 from "../../../../assets/macos/blocked-5.png" with { type: "file" };
import blocked6 from "../../../../assets/macos/blocked-6.png" with { type: "file" };
import blocked7 from "../../../../assets/macos/blocked-7.png" with { type: "file" };
import blocked8 from "../../../../assets/macos/blocked-8.png" with { type: "file" };
import blocked9 from "../../../../assets/macos/blocked-9.png" with { type: "file" };
import blocked10 from "../../../../assets/macos/blocked-10.png" with { type: "file" };
import calm from "../../../../assets/macos/calm.png" with { type: "file" };
import working from "../../../../assets/macos/working.png" with { type: "file" };
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

/** A template image of 36 pixels: 18 points on a Retina display. macOS colours it to suit the menu bar. */
export const readTemplatePng = (icon: TrayIcon): Buffer => readFileSync(findIconFile(files, icon));
