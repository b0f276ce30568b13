/** What a command can do to Claude Code itself. */
import type { AgentDangers } from "../../shell/dangers/look.ts";
import { asksNobody } from "../../shell/dangers/services.ts";

export const ownDangers: AgentDangers = {
  programs: {
    claude: [
      ["root", asksNobody, /--(?:allow-)?dangerously-\S+|bypassPermissions/],
      [
        "system",
        "changes what the agent may do and runs by itself",
        /^(?:mcp add|plugin install|config set)\S*/,
      ],
    ],
  },
  files: [/(?:^|\/)\.claude(?:\/(?:settings[\w.]*\.json|hooks(?:\/|$))|\.json$)/, /(?:^|\/)\.mcp\.json$/],
  projectVariables: ["CLAUDE_PROJECT_DIR"],
};
