/** The rules, which are loaded when they are first opened, with what they need of the page. */
import { callApi } from "./api.ts";
import { HostedPart } from "./load-part.tsx";
import type { RulesHost } from "./rules.tsx";
import { agentName } from "./state.ts";

const host: RulesHost = { callApi, agentName };

export const RulesPanel = () => <HostedPart script="rules" what="rules" host={host} />;
