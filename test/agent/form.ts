/** Gives the sandbox's CLI an MCP server that asks for a name: `DO form`. */
import { formServer } from "./form-server.ts";
import { home } from "./namespace.ts";
import type { Sandbox, SandboxOptions } from "./sandbox.ts";

export const formOptions: SandboxOptions = {
  files: { "bin/bun": process.execPath, "form-server.ts": formServer },
  claudeJson: { mcpServers: { form: { type: "stdio", command: "bun", args: [`${home}/form-server.ts`] } } },
  settings: { permissions: { allow: ["mcp__form__ask"] } },
};

/** Waits until the model can call the server's tool. */
export const waitForFormServer = (sandbox: Sandbox): Promise<number> =>
  sandbox.waitForFile("form-server.ready");
