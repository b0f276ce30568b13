/** Limits on everything that comes from outside or grows. Times are in timing.ts. */
export const limits = {
  /** A hook request. The forwarder shortens the strings of a larger payload. */
  maxBodyBytes: 1024 * 1024,
  /** The bearer token has 32 random bytes, so at least 43 characters. A shorter one means a damaged file. */
  minTokenLength: 43,
  maxIdLength: 200,
  maxPathLength: 4_096,
  maxSummaryLength: 400,
  maxTextLength: 1_900,
  maxOptions: 12,
  /** Files that one patch changes. */
  maxPatchedFiles: 1_000,
  maxSessions: 20_000,
  /** Recent events in the snapshot, about half a KB each. */
  maxSavedEvents: 5_000,
  maxOpenAsks: 64,
  maxChildren: 64,
  maxTools: 64,
  maxTasks: 256,
  /** Files that a session has changed, and of those, files that another one has changed too. */
  maxEditedFiles: 256,
  maxSharedFiles: 32,
  /** Of those, files of a session that are sent to other machines: git is asked about each. */
  maxRepositoryFiles: 16,
  /** A larger file is not compared with the one that was committed. */
  maxComparedBytes: 8 * 1024 * 1024,
  /** Files of instructions that are remembered of a session. */
  maxDocuments: 64,
  maxPorts: 10_000,
  maxPortsBytes: 16 * 1024 * 1024,
  maxPortTitleLength: 200,
  /** Ports that one port depends on. */
  maxPortDependencies: 50,
  maxRules: 500,
  maxRuleLength: 1_000,
  /** Asks of the history that a rule is tried on, the newest first. */
  maxPastAsks: 20_000,
  maxEnv: 64,
  maxEnvLength: 1_000,
  /** Ids of recent events, kept to ignore duplicates. */
  maxRememberedIds: 32_768,
  defaultTcpPort: 4488,
  maxTcpPortsTried: 50,
  /** A text in a hook payload (prompt, response, error) as it arrives. What is kept of it is shorter. */
  maxHookTextLength: 65_536,
  maxHookItems: 256,
  /** extractLastAssistantResponse reads this much first, and 4 times more as long as it finds no response. */
  transcriptTailBytes: 256_000,
  maxTranscriptTailBytes: 64 * 256_000,
  /** How much of a transcript is read at once. The rest follows slice by slice, with pauses. */
  transcriptSliceBytes: 4 * 1024 * 1024,
  transcriptChunkBytes: 256 * 1024,
  /** A longer row is skipped. Rows with images have some MB. */
  maxTranscriptRowBytes: 8 * 1024 * 1024,
  /** Ids of turns remembered per transcript, and of messages in all of them, so that each is counted once. */
  maxTranscriptIds: 10_000,
  maxUsageMessages: 5_000,
  /** Transcripts of subagents that are read per session. */
  maxSubagentTranscripts: 2_000,
  maxResponseBlocks: 256,
  maxTranscriptsFollowed: 512,
  /** A byte that is not valid UTF-8 becomes three, so a journal line can be longer than the request was. */
  maxJournalLineBytes: 32 * 1024 * 1024,
  maxSegmentBytes: 8 * 1024 * 1024,
  maxJournalBytes: 512 * 1024 * 1024,
  /** Of rows that wait for the history's thread. More of them wait in memory. */
  maxWaitingRowsBytes: 512 * 1024 * 1024,
  maxAgentSettingsBytes: 4 * 1024 * 1024,
  maxInstalledBytes: 1024 * 1024,
  /** desk.json, rules.json and other small files of state. */
  maxJsonStateBytes: 4 * 1024 * 1024,
  maxSnapshotBytes: 256 * 1024 * 1024,
  maxLogLineLength: 4_000,
  /** beckon.log.1, .2, … and the same for the answer log. */
  maxOlderLogs: 3,
  /** The forwarder: what it reads, and what it leaves on disk. */
  maxStdinBytes: 64 * 1024 * 1024,
  /** endpoint.json, auth-header, config.json. */
  maxSmallFileBytes: 65_536,
  maxSpoolBytes: 64 * 1024 * 1024,
  maxHookLogBytes: 256 * 1024,
  /** A longer log was not written by hooks. It is emptied without being read. */
  maxHookLogReadBytes: 4 * 1024 * 1024,
  /** Hooks that wait for an answer at the same time. */
  maxPendingRequests: 200,
  maxDecisionBytes: 1024 * 1024,
  maxAnswerLength: 20_000,
  /** Of a prompt that is sent through beckon. Claude Code takes 200,000 (measured). */
  maxSentPromptLength: 100_000,
  maxDecisionsBytes: 1024 * 1024,
  maxStreamClients: 32,
  /** What a client of GET /api/events has not read yet. More, and it is dropped. */
  maxStreamBacklogBytes: 8 * 1024 * 1024,
  /** Items of one response of GET /api/history. */
  maxHistoryPage: 500,
  /** The text of one webhook: enough for every request that beckon shows in full. */
  maxWebhookTextBytes: 32_768,
  /** Output of a command that beckon runs. */
  maxCommandOutputBytes: 4 * 1024 * 1024,
} as const;
