/** Connects the look for a newer beckon to the app. Nothing of src/update is loaded, and nobody is asked, before the user turns it on. */
import { version } from "../../package.json";
import { readErrorMessage } from "../core/error-message.ts";
import type { Sink } from "../core/interfaces/index.ts";
import { loadJsonState, saveJsonState } from "../storage/json-state.ts";
import { schedule } from "../system/schedule.ts";
import type { UpdateCheck } from "../update/check.ts";
import type { Base } from "./base.ts";

export interface AppUpdateCheck extends Sink {
  /** Lines for the menu. */
  notices(): readonly string[];
  stop(): void;
}

export function createUpdateCheck(
  { config, env, paths, clock, options, log, onProblem }: Base,
  onChange: () => void,
): AppUpdateCheck {
  let check: UpdateCheck | null = null;
  let isStopped = false;
  // A hook's variables can be a project's, which could name any address.
  const isMirrorUnsure = options.isFromHook === true && env.BECKON_DOWNLOAD_URL !== undefined;
  const isWanted = () => config().updates === "tell" && !isStopped && !isMirrorUnsure;

  async function update(): Promise<void> {
    if (!isWanted()) {
      check?.stop();
      check = null;
      return;
    }
    if (check) return;
    const [{ startUpdateCheck }, { findReleases }] = await Promise.all([
      import("../update/check.ts"),
      import("../update/address.ts"),
    ]);
    if (check || !isWanted()) return;
    check = startUpdateCheck({
      ownVersion: version,
      releases: findReleases(env),
      now: () => clock().at,
      schedule,
      saved: loadJsonState(paths.updateCheck).value,
      save: (value) => saveJsonState(paths.updateCheck, value),
      onChange,
      onProblem: (text) => log("info", text),
    });
  }
  const start = () =>
    void update().catch((error) =>
      onProblem(`newer versions are not looked for: ${readErrorMessage(error)}`),
    );

  start();
  return {
    name: "updates",
    notices() {
      const newer = check?.newer();
      return newer ? [`${newer.text}. Run: ${newer.fix}`] : [];
    },
    onSettingsChanged: start,
    stop() {
      isStopped = true;
      check?.stop();
    },
  };
}
