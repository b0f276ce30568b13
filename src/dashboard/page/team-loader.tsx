/** The team, which is loaded when it is first opened, with what it needs of the page. */
import { h } from "preact";
import { callApi } from "./api.ts";
import { Part } from "./load-part.tsx";
import type { TeamHost } from "./team.tsx";

const host: TeamHost = { callApi };

export const TeamPanel = () => (
  <Part script="team" what="team">
    {h("beckon-team", {
      ref: (element: unknown) => {
        if (element !== null) (element as { host: TeamHost }).host = host;
      },
    })}
  </Part>
);
