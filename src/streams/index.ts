/**
 * What happened, for the user and for other programs. Each format is one file with its type and what it is made of: an AgentEvent,
 * which is what a hook says, or a Transition, which is what a change of the state means. Two formats are sent from here: server-sent
 * events (event-stream.ts), and the lifecycle stream in a file (lifecycle-stream.ts).
 */
export { createEventStream } from "./event-stream.ts";
export { createLifecycleStream } from "./lifecycle-stream.ts";
