/** What a local server that stands in for a service offers the contract suite and the tests of the whole. */
import type { ServiceSettings } from "../../../src/channels/channel.ts";

/**
 * How the next requests that send or change a message go wrong. "rate-limit": 429 that asks for a pause of one second.
 * "error": 5xx. "refuse": the token is wrong, or the chat does not exist. "hang": no answer. "reset": the connection breaks
 * before the message is taken; "lose-answer": after it was taken. "garbage": an answer that is not of this service.
 */
export type Misbehaviour = "rate-limit" | "error" | "refuse" | "hang" | "reset" | "lose-answer" | "garbage";

/** A message as a user of the service sees it. */
export interface ShownMessage {
  /** Title and text, after the service has rendered its markup. */
  readonly text: string;
  readonly buttons: readonly string[];
  /** Accounts or groups that the message notifies by name. */
  readonly mentions: readonly string[];
}

export interface FakeService {
  /** The service's own fields, with the address of this server. */
  readonly settings: ServiceSettings;
  readonly secrets: Readonly<Record<string, string>>;
  /** An account that the tests list in `accounts`, and one that they do not. */
  readonly accounts: { readonly listed: string; readonly foreign: string };
  /** Oldest first. A message that was replaced counts once. */
  messages(): readonly ShownMessage[];
  /** How many messages were sent, without updates. */
  sentCount(): number;
  /** The bodies of all requests that it received. */
  bodies(): readonly unknown[];
  misbehave(how: Misbehaviour, times: number): void;
  /** Taps the first button with this label, in the newest message that has one. */
  tap(label: string, account?: string): Promise<void>;
  /** Replies with text to the newest message. */
  reply(text: string, account?: string): Promise<void>;
  /** Sends a made-up reference. */
  forge(reference: string, account?: string): Promise<void>;
  /** Sends the last response once more, exactly as it was. */
  replay(): Promise<void>;
  /** Breaks the connections that wait for responses. */
  dropListeners(): void;
  stop(): Promise<void>;
}
