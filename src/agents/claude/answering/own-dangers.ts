/** What a command can do to Claude Code itself. */
import type { AgentDangers } from "../../../shell/dangers/context.ts";
import { skipsPermissions } from "../../../shell/dangers/service-programs.ts";

export const ownDangers: AgentDangers = {
  programs: {
    claude: [
      ["root", skipsPermissions, /--(?:allow-)?dangerously-\S+|bypassPermissions/],
      ["system", "changes the agent's own settings or hooks", /^(?:mcp add|plugin install|config set)\S*/],
    ],
  },
  files: [/(?:^|\/)\.claude(?:\/(?:settings[\w.]*\.json|hooks(?:\/|$))|\.json$)/, /(?:^|\/)\.mcp\.json$/],
  projectVariables: ["CLAUDE_PROJECT_DIR"],
};
