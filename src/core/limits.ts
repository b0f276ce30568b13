/** A limit on everything that comes from outside or grows. */
export const limits = {
  /** A hook's request. Larger payloads are shortened string by string by the forwarder. */
  maxBodyBytes: 1024 * 1024,
  /** The bearer token is 32 random bytes: 43 characters or more. A shorter one is a damaged file. */
  minTokenLength: 43,
  maxIdLength: 200,
  maxPathLength: 4_096,
  maxSummaryLength: 400,
  maxTextLength: 1_900,
  maxOptions: 12,
  maxSessions: 20_000,
  /** The last events of sessions that moved a moment ago, in the snapshot: half a KB each. */
  maxSavedEvents: 5_000,
  maxOpenAsks: 64,
  maxChildren: 64,
  maxTools: 64,
  maxEnv: 64,
  maxEnvLength: 1_000,
  /** Ids of events kept, so that one that comes again is known. */
  rememberedIds: 32_768,
  defaultPort: 4488,
  portsTried: 50,
  /** A text of a hook (prompt, answer, error) on its way in; what is kept of it is shorter. */
  maxHookTextLength: 65_536,
  maxHookRows: 256,
  /** What extractLastAssistantResponse reads first; times 4 while that holds no answer, and how far that goes. */
  transcriptTailBytes: 256_000,
  maxTranscriptTailBytes: 64 * 256_000,
  /** Of a transcript longer than this, the first read starts that far before its end. */
  maxTranscriptFirstReadBytes: 64 * 1024 * 1024,
  transcriptChunkBytes: 256 * 1024,
  /** A longer row is passed over. Rows with pictures in them reach some MB. */
  maxTranscriptRowBytes: 8 * 1024 * 1024,
  /** Ids of messages and turns remembered per transcript, so that none is counted twice. */
  maxTranscriptIds: 10_000,
  maxAnswerBlocks: 256,
  maxTranscriptsFollowed: 512,
  /** A line of the journal. A byte that is no UTF-8 becomes three, so a kept body can be longer than it came. */
  maxJournalLineBytes: 32 * 1024 * 1024,
  maxSegmentBytes: 8 * 1024 * 1024,
  maxJournalBytes: 512 * 1024 * 1024,
  maxAgentSettingsBytes: 4 * 1024 * 1024,
  maxInstalledBytes: 1024 * 1024,
  maxDeskBytes: 4 * 1024 * 1024,
  maxSnapshotBytes: 256 * 1024 * 1024,
  maxLogLineLength: 4_000,
  /** The forwarder: what it reads, and what it leaves on disk. */
  maxStdinBytes: 64 * 1024 * 1024,
  /** endpoint.json, auth-header, config.json. */
  maxSmallFileBytes: 65_536,
  maxSpoolBytes: 64 * 1024 * 1024,
  maxHookLogBytes: 256 * 1024,
  /** A longer log was not written by a hook: it is emptied without being read. */
  maxHookLogReadBytes: 4 * 1024 * 1024,
  /** Hooks that wait for an answer at the same time. */
  maxPendingRequests: 200,
  maxDecisionBytes: 1024 * 1024,
  maxAnswerLength: 20_000,
  maxDecisionsBytes: 1024 * 1024,
  /** Output of a command that beckon runs. */
  maxCommandOutputBytes: 4 * 1024 * 1024,
} as const;
