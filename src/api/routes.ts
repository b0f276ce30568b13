/** Every route of the API. The guard, the server and docs/api.md follow this table. */

export interface Route {
  readonly method: "GET" | "POST";
  /** `:id` stands for one segment. */
  readonly path: string;
  /**
   * Who may call it. "public": anyone on this machine, without the token. "page": with the token, also beckon's own page.
   * "local": with the token, and refused if anything suggests a browser.
   */
  readonly access: "public" | "page" | "local";
}

export const routes = {
  health: { method: "GET", path: "/health", access: "public" },
  hook: { method: "POST", path: "/api/hook", access: "local" },
  ingest: { method: "POST", path: "/ingest", access: "local" },
  hold: { method: "POST", path: "/api/hold", access: "local" },
  holdEnd: { method: "POST", path: "/api/hold/end", access: "local" },
  sessions: { method: "GET", path: "/api/sessions", access: "page" },
  session: { method: "GET", path: "/api/sessions/:id", access: "page" },
  history: { method: "GET", path: "/api/history", access: "page" },
  stats: { method: "GET", path: "/api/stats", access: "page" },
  lanes: { method: "GET", path: "/api/lanes", access: "page" },
  focus: { method: "POST", path: "/api/sessions/:id/focus", access: "local" },
  answer: { method: "POST", path: "/api/sessions/:id/answer", access: "local" },
  mute: { method: "POST", path: "/api/sessions/:id/mute", access: "local" },
  snooze: { method: "POST", path: "/api/sessions/:id/snooze", access: "local" },
  dismiss: { method: "POST", path: "/api/sessions/:id/dismiss", access: "local" },
  quiet: { method: "POST", path: "/api/quiet", access: "local" },
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
