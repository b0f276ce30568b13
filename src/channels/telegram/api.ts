/**
 * The API of bots, by grammy. The web build of grammy is used: it calls the fetch that it is given, while the other one brings
 * its own with a deadline that Bun ignores.
 */
import { Api, GrammyError, HttpError } from "grammy/web";
import { type ChannelOptions, type ChannelSender, DeliveryError } from "../channel.ts";
import { createLibraryFetch } from "../library-fetch.ts";

/** What an update has of the fields that are used here. */
export type Update = Awaited<ReturnType<Api["getUpdates"]>>[number];
export type User = NonNullable<NonNullable<Update["message"]>["from"]>;

export function createApi(
  { settings, secret }: Pick<ChannelOptions, "settings" | "secret">,
  timeoutMs: number,
): Api {
  return new Api(secret("token") ?? "", {
    apiRoot: String(settings.server).replace(/\/+$/, ""),
    fetch: createLibraryFetch(timeoutMs),
  });
}

/** Everyone chooses their own first name, so it is not shown. */
export function describeAccount({ id, username }: User): ChannelSender {
  return { accountId: String(id), account: username === undefined ? String(id) : `@${username}` };
}

/** Rejects with a DeliveryError. */
export async function call<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    throw toDeliveryError(error);
  }
}

export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  if (error instanceof HttpError && error.error instanceof DeliveryError) return error.error;
  // The cause of any other failure can contain the address, which contains the token.
  if (!(error instanceof GrammyError))
    return new DeliveryError("the answer of the server is not valid", { isUncertain: true });
  const { error_code: code, description, parameters } = error;
  const retryAfter = parameters?.retry_after;
  const failure = new DeliveryError(
    explain(error) ?? `the server answered ${code} (${description.slice(0, 200)})`,
    {
      retryAfterMs: typeof retryAfter === "number" ? retryAfter * 1_000 : null,
      isPermanent: code >= 400 && code < 500 && code !== 429 && code !== 409,
      isUncertain: code === 504,
    },
  );
  failure.cause = error;
  return failure;
}

/** For failures that the user can end. */
function explain({ error_code: code, parameters }: GrammyError): string | null {
  const newChat = parameters?.migrate_to_chat_id;
  if (newChat !== undefined) return `the group has become a supergroup: set chat to "${newChat}"`;
  if (code === 401 || code === 404) return "the token is not valid. Get it from @BotFather";
  if (code === 403)
    return "the bot may not write there. Open the chat and press Start, or add the bot to the group";
  if (code === 409) return "another program receives the updates of this bot. Create a bot for beckon alone";
  return null;
}

/** The message already has this text, or is gone. */
export function isEditDone(error: unknown): boolean {
  return (
    error instanceof GrammyError &&
    error.error_code === 400 &&
    /message is not modified|message to edit not found|message can't be edited/i.test(error.description)
  );
}
