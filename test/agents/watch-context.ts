/** A watcher's context around a store, without a terminal, a program or a request. */
import type { WatchContext } from "../../src/agents/agent.ts";
import type { Store } from "../../src/state/store.ts";

export const createWatchContext = (
  agent: string,
  store: Store,
  {
    home,
    clock,
    report = () => {},
  }: Pick<WatchContext, "clock"> & Partial<Pick<WatchContext, "report">> & { readonly home: string },
): WatchContext => ({
  env: { HOME: home, PATH: "" },
  clock,
  findSession: (sessionId) => store.get({ agent, sessionId }),
  dispatch: (event) => store.dispatch(event),
  mask: (text) => text,
  onError: (text) => {
    throw new Error(text);
  },
  exec: async () => ({ code: null, stdout: "", stderr: "" }),
  addPendingRequest: () => () => {},
  report,
  findProgram: async () => null,
  listWindows: async () => [],
});
