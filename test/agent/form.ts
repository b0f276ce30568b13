/** A sandbox whose CLI has an MCP server that asks for a name: `DO form`. */
import { formServer } from "./form-server.ts";
import { home } from "./namespace.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

export const withForm: SandboxOptions = {
  files: { "bin/bun": process.execPath, "form-server.ts": formServer },
  claudeJson: { mcpServers: { form: { type: "stdio", command: "bun", args: [`${home}/form-server.ts`] } } },
  settings: { permissions: { allow: ["mcp__form__ask"] } },
};

/** From here on the model can call it. */
export const formIsReady = (sandbox: Sandbox): Promise<number> => sandbox.finds("form-server.ready");
