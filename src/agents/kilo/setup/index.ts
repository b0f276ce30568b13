/** Install, uninstall and doctor for Kilo: opencode's plugin in its own folder. */
import { createOpencodeSetup } from "../../opencode/setup/index.ts";
import { kiloVariant } from "../variant.ts";

export const kiloSetup = createOpencodeSetup(kiloVariant);
