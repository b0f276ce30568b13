/** Every route of the API. The request check, the server and docs/api.md follow this table. */

export interface Route {
  readonly method: "GET" | "POST";
  /** `:id` stands for one segment. */
  readonly path: string;
  /**
   * Who may call it.
   * - "public": anyone on this machine, without the token.
   * - "entry": anyone; the handler asks for a one-time code or the page's cookie.
   * - "asset": with the token, or with the page's cookie.
   * - "page": with the token, or from beckon's own page with its cookie and its key.
   * - "renewal": with the token, or from beckon's own page; the handler asks for a proof.
   * - "local": with the token, and refused if anything suggests a browser.
   */
  readonly access: "public" | "entry" | "asset" | "page" | "renewal" | "local";
}

export const routes = {
  health: { method: "GET", path: "/health", access: "public" },
  page: { method: "GET", path: "/", access: "entry" },
  pageScript: { method: "GET", path: "/page.js", access: "asset" },
  sharedScript: { method: "GET", path: "/shared.js", access: "asset" },
  moreScript: { method: "GET", path: "/more.js", access: "asset" },
  settingsScript: { method: "GET", path: "/settings.js", access: "asset" },
  rulesScript: { method: "GET", path: "/rules.js", access: "asset" },
  teamScript: { method: "GET", path: "/team.js", access: "asset" },
  // The page that a browser without the cookie gets needs them. They are the same for every user.
  pageStyle: { method: "GET", path: "/page.css", access: "public" },
  pageIcon: { method: "GET", path: "/icon.svg", access: "public" },
  pageFacts: { method: "GET", path: "/api/page", access: "page" },
  pageRenewal: { method: "GET", path: "/api/page/renewal", access: "page" },
  pageRenew: { method: "POST", path: "/api/page/renew", access: "renewal" },
  pageCode: { method: "POST", path: "/api/page/code", access: "local" },
  hook: { method: "POST", path: "/api/hook", access: "local" },
  ingest: { method: "POST", path: "/ingest", access: "local" },
  hold: { method: "POST", path: "/api/hold", access: "local" },
  holdEnd: { method: "POST", path: "/api/hold/end", access: "local" },
  guard: { method: "POST", path: "/api/guard", access: "local" },
  statusLine: { method: "POST", path: "/api/statusline", access: "local" },
  sessions: { method: "GET", path: "/api/sessions", access: "page" },
  session: { method: "GET", path: "/api/sessions/:id", access: "page" },
  events: { method: "GET", path: "/api/events", access: "page" },
  history: { method: "GET", path: "/api/history", access: "page" },
  story: { method: "GET", path: "/api/story", access: "page" },
  transcriptPage: { method: "GET", path: "/api/transcript", access: "page" },
  stats: { method: "GET", path: "/api/stats", access: "page" },
  ports: { method: "GET", path: "/api/ports", access: "page" },
  moment: { method: "GET", path: "/api/moment", access: "page" },
  lanes: { method: "GET", path: "/api/lanes", access: "page" },
  focus: { method: "POST", path: "/api/sessions/:id/focus", access: "page" },
  answer: { method: "POST", path: "/api/sessions/:id/answer", access: "page" },
  send: { method: "POST", path: "/api/sessions/:id/send", access: "page" },
  prompts: { method: "GET", path: "/api/prompts", access: "page" },
  promptChange: { method: "POST", path: "/api/prompts/:id/change", access: "page" },
  promptRemove: { method: "POST", path: "/api/prompts/:id/remove", access: "page" },
  rules: { method: "GET", path: "/api/rules", access: "page" },
  ruleAct: { method: "POST", path: "/api/rules/:id", access: "page" },
  trust: { method: "POST", path: "/api/sessions/:id/trust", access: "page" },
  mute: { method: "POST", path: "/api/sessions/:id/mute", access: "page" },
  snooze: { method: "POST", path: "/api/sessions/:id/snooze", access: "page" },
  dismiss: { method: "POST", path: "/api/sessions/:id/dismiss", access: "page" },
  transcript: { method: "POST", path: "/api/sessions/:id/transcript", access: "page" },
  quiet: { method: "POST", path: "/api/quiet", access: "page" },
  settings: { method: "GET", path: "/api/settings", access: "page" },
  settingsSave: { method: "POST", path: "/api/settings/save", access: "page" },
  settingsOpen: { method: "POST", path: "/api/settings/open", access: "page" },
  channels: { method: "GET", path: "/api/channels", access: "local" },
  channelTest: { method: "POST", path: "/api/channels/:id/test", access: "page" },
  machines: { method: "GET", path: "/api/machines", access: "page" },
  machineRetry: { method: "POST", path: "/api/machines/:id/retry", access: "page" },
  teams: { method: "GET", path: "/api/teams", access: "page" },
  fleets: { method: "GET", path: "/api/fleets", access: "local" },
  fleetsChanged: { method: "POST", path: "/api/fleets/update", access: "local" },
  /** For `beckon link`: the sessions of this machine, and what the linked machine's user asks for. */
  link: { method: "GET", path: "/api/link/:id", access: "local" },
  linkMessage: { method: "POST", path: "/api/link/:id/message", access: "local" },
  doctor: { method: "GET", path: "/api/doctor", access: "local" },
  stop: { method: "POST", path: "/api/stop", access: "local" },
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof routes;

const fixedPaths = new Map<string, Route>();
const patterns: { readonly segments: readonly string[]; readonly route: Route }[] = [];
for (const route of Object.values<Route>(routes)) {
  if (route.path.includes(":")) patterns.push({ segments: route.path.split("/"), route });
  else fixedPaths.set(route.path, route);
}

/** The path must be spelled exactly as in the table; an empty `:id` matches nothing. */
export function findRoute(path: string): Route | undefined {
  const route = fixedPaths.get(path);
  if (route) return route;
  const segments = path.split("/");
  return patterns.find((pattern) => matches(pattern.segments, segments))?.route;
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith(":") ? segments[index] !== "" : part === segments[index]))
  );
}
