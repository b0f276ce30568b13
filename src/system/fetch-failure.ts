/** Why a request to another machine failed, in words for users. */
import { readErrorMessage } from "../core/error-message.ts";

const codeOf = (error: unknown): string => String(Object(error).code ?? Object(error).name ?? "");

/** The request was never written. */
export const isUnreachable = (error: unknown): boolean =>
  /^(?:ConnectionRefused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|FailedToOpenSocket|DNSFailure|EHOSTUNREACH|ENETUNREACH)$/.test(
    codeOf(error),
  );

/** The server has no TLS, or its certificate is not valid: the request was never written. */
export const isUntrusted = (error: unknown): boolean => /EPROTO|TLS|CERT|UNABLE_TO_/.test(codeOf(error));

/** The path of the address is left out: for some services it is the secret. */
export function describeFetchFailure(url: string, error: unknown): string {
  const { host } = new URL(url);
  // Its code is a number.
  if (error instanceof Error && error.name === "TimeoutError") return `${host} did not answer in time`;
  if (isUnreachable(error)) return `${host} cannot be reached`;
  if (isUntrusted(error)) return `${host} cannot be trusted: its certificate is not valid (${codeOf(error)})`;
  return `the connection to ${host} failed (${codeOf(error) || readErrorMessage(error).slice(0, 100)})`;
}
