/** The rules, which are loaded when they are first opened, with what they need of the page. */
import { h } from "preact";
import { callApi } from "./api.ts";
import { Part } from "./load-part.tsx";
import type { RulesHost } from "./rules.tsx";
import { agentName } from "./state.ts";

const host: RulesHost = { callApi, agentName };

export const RulesPanel = () => (
  <Part script="rules" what="rules">
    {h("beckon-rules", {
      ref: (element: unknown) => {
        if (element !== null) (element as { host: RulesHost }).host = host;
      },
    })}
  </Part>
);
