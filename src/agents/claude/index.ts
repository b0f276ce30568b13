/** Claude Code while the app runs: its events, its requests and what is watched beside its hooks. */
import type { AgentRuntime } from "../agent.ts";
import { createCallKey } from "../hook-event.ts";
import { createRuntime } from "../runtime.ts";
import { autoAllow } from "./answering/auto-allow.ts";
import { claudeDangers } from "./answering/dangers.ts";
import { decide } from "./answering/decide.ts";
import { describeRequest, findSessionId, isAnswerable } from "./answering/describe.ts";
import { readSubject } from "./answering/subject.ts";
import { readDetails } from "./details.ts";
import { claudeForwarding } from "./forwarding.ts";
import { outputFields } from "./payload.ts";
import { identifyReported, isRunEnd } from "./reported-hooks.ts";
import { createRegistrationCheck, isPresent } from "./setup/folder.ts";
import { readStatusLine } from "./status-line.ts";
import { readTranscriptRow } from "./transcript-lines.ts";
import { readGuardRequest, translate } from "./translate.ts";
import { watchClaude } from "./watch/index.ts";
import { extractLastAssistantResponse, findTranscript, readReportedHooks } from "./watch/transcripts.ts";

export const claude: AgentRuntime = createRuntime(claudeForwarding, {
  translate,
  readDetails,
  readGuardRequest,
  outputFields,
  dedupeKey: createCallKey,
  dangers: claudeDangers,
  answering: { findSessionId, isAnswerable, describe: describeRequest, decide, autoAllow, readSubject },
  watch: watchClaude,
  readStatusLine,
  findTranscript,
  readTranscriptRow,
  readLastResponse: (path) => extractLastAssistantResponse(path),
  unattendedRuns: { identify: identifyReported, isEnd: isRunEnd, readHooks: readReportedHooks },
  isPresent,
  createRegistrationCheck,
});
