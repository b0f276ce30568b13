/** What happened, for other programs: server-sent events for clients of the API, and the lifecycle stream in a file. */
export { createEventStream } from "./event-stream.ts";
export { createLifecycleStream } from "./lifecycle-stream.ts";
