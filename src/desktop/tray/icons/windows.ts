import { readFileSync } from "node:fs";
import blocked0 from "../../../../assets/windows/blocked-0.ico" with { type: "file" };
import blocked1 from "../../../../assets/windows/blocked-1.ico" with { type: "file" };
import blocked2 from "../../../../assets/windows/blocked-2.ico" with { type: "file" };
import blocked3 from "../../../../assets/windows/blocked-3.ico" with { type: "file" };
import blocked4 from "../../../../assets/windows/blocked-4.ico" with { type: "file" };
import blocked5 from "../../../../assets/windows/blocked-5.ico" with { type: "file" };
import blocked6 from "../../../../assets/windows/blocked-6.ico" with { type: "file" };
import blocked7 from "../../../../assets/windows/blocked-7.ico" with { type: "file" };
import blocked8 from "../../../../assets/windows/blocked-8.ico" with { type: "file" };
import blocked9 from "../../../../assets/windows/blocked-9.ico" with { type: "file" };
import blocked10 from "../../../../assets/windows/blocked-10.ico" with { type: "file" };
import calm from "../../../../assets/windows/calm.ico" with { type: "file" };
import working from "../../../../assets/windows/working.ico" with { type: "file" };
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

/** All sizes that Windows asks for: 16, 20, 24, 32 and 48 pixels. */
export const readIco = (icon: TrayIcon): Buffer => readFileSync(findIconFile(files, icon));
