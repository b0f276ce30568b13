/**
 * Status changes that cannot be known from hooks alone: the recording, the time of the change, and why. Every other change must
 * be shown right.
 */
export const expectedMisses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agent_fg: { 2374: "a subagent's request that another hook delays shows no dialog" },
  ask: { 15507: "Esc on a dialog sends no hook" },
  bang: { 4716: "a ! command sends no hook before its Stop" },
  bash2_deny_second: { 10972: "No on a dialog sends no hook" },
  ctrlc_agent: { 8060: "Ctrl-C kills subagents without a hook" },
  ctrlc_agent_next: { 7879: "Ctrl-C kills subagents without a hook" },
  esc_agent: { 12669: "Ctrl-C kills subagents without a hook" },
  esc_midturn: { 7187: "Esc in mid-turn sends no hook" },
  esc_tool: { 8338: "Esc on a running tool sends no hook", 17556: "Ctrl-C on a running tool sends no hook" },
  perm_deny: { 3898: "No on a dialog sends no hook" },
  perm_esc: { 11267: "Esc on a dialog sends no hook" },
  plan: { 8853: "Esc on a plan sends no hook", 16560: "Esc on a plan sends no hook" },
  prompt_blocked: { 6504: "a prompt that a hook blocks sends nothing more" },
  queued_slow: { 8728: "the turn of a queued prompt starts without a hook" },
  stop_blocked: { 4265: "a Stop that a hook blocks looks like the last" },
};
