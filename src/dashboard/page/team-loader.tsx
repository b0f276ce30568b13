/** The team, which is loaded when it is first opened, with what it needs of the page. */
import { callApi } from "./api.ts";
import { HostedPart } from "./load-part.tsx";
import type { TeamHost } from "./team.tsx";

const host: TeamHost = { callApi };

export const TeamPanel = () => <HostedPart script="team" what="team" host={host} />;
