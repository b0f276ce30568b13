/** Kilo among opencode's variants. It does not load opencode's folder. */
import type { OpencodeVariant } from "../opencode/variant.ts";

export const kiloVariant: OpencodeVariant = {
  id: "kilo",
  name: "Kilo",
  folderVariable: "KILO_CONFIG_DIR",
  pluginPackage: "@kilocode/plugin",
  ownPath: null,
};
