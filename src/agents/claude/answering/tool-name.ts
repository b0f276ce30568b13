import { makeLineVisible } from "../../../core/text/visible.ts";

/** `mcp__github__create_issue` → "create_issue (github)" */
export function toolName(tool: string): string {
  const [, server = "", ...rest] = tool.slice(0, 200).split("__");
  if (!tool.startsWith("mcp__") || server === "" || rest.join("") === "")
    return makeLineVisible(tool.slice(0, 200));
  return makeLineVisible(`${rest.join("__")} (${server})`);
}
