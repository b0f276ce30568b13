import { defineCommand } from "../command.ts";

export const updateCommand = defineCommand({
  name: "update",
  suggestFor: { upgrade: "update" },
  options: {
    "--check": { about: "only say whether there is a newer version" },
    "--rollback": { about: "go back to the version before the last update" },
  },
  page: {
    overview: [["beckon update", "replace beckon by the newest release"]],
    summary:
      "Downloads the newest release, checks it, puts it in the place of this beckon and restarts it. Requests that wait for you stay answerable. If the new one does not run, the old one is put back. BECKON_DOWNLOAD_URL names a mirror.",
    examples: [
      ["beckon update --check", "asks whether there is a newer version, and changes nothing"],
      ["beckon update --rollback", "puts the version back that the last update replaced"],
    ],
  },
});
