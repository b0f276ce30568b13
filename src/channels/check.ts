/** Checks that several services share. */

export function isHttpAddress(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "";
}

/** For services whose address carries a secret, or whose messages do: https, or this machine. */
export function isPrivateAddress(value: unknown): value is string {
  return isHttpAddress(value) && (value.startsWith("https:") || isLoopback(new URL(value)));
}

export const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
