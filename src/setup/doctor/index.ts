/**
 * What `beckon doctor` checks. One file per part: each turns facts into findings for the user, and is pure apart from reading
 * beckon's own files (files.ts, traces.ts) and running a hook (live.ts). report.ts is what the running app knows.
 */
export { checkApp, type HealthAnswer } from "./app.ts";
export { checkChannels } from "./channels.ts";
export { checkCollisions } from "./collisions.ts";
export { checkFiles, readFilesFacts } from "./files.ts";
export { checkFleets } from "./fleets.ts";
export { checkIcon } from "./icon.ts";
export {
  checkLiveTest,
  type LiveApp,
  type LiveFacts,
  probeText,
  runHook,
  runLiveTest,
} from "./live.ts";
export { checkLogin } from "./login.ts";
export { checkMachines } from "./machines.ts";
export { checkNotifications } from "./notifications.ts";
export { type AppReport, type ProbeReport, readReport } from "./report.ts";
export { checkStreamServer } from "./stream.ts";
export { checkTerminals } from "./terminals.ts";
export { checkTraces, readTraces } from "./traces.ts";
