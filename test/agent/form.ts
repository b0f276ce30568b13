/** A world whose CLI has an MCP server that asks for a name: `DO form`. */
import { formServer } from "./form-server.ts";
import { home } from "./namespace.ts";
import type { World, WorldOptions } from "./world.ts";

export const withForm: WorldOptions = {
  files: { "bin/bun": process.execPath, "form-server.ts": formServer },
  claudeJson: { mcpServers: { form: { type: "stdio", command: "bun", args: [`${home}/form-server.ts`] } } },
  settings: { permissions: { allow: ["mcp__form__ask"] } },
};

/** From here on the model can call it. */
export const formIsReady = (world: World): Promise<number> => world.finds("form-server.ready");
