/** opencode among its variants. */
import type { OpencodeVariant } from "./variant.ts";

export const opencodeVariant: OpencodeVariant = {
  id: "opencode",
  name: "opencode",
  folderVariable: "OPENCODE_CONFIG_DIR",
  pluginPackage: "@opencode-ai/plugin",
  ownPath: ".opencode/bin/opencode",
};
