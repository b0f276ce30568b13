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

/** A token is sent there, so it must be encrypted. `isLocal`: it may also be on this machine. */
export function isSocketAddress(value: unknown, isLocal: boolean): value is string {
  const url = typeof value === "string" ? URL.parse(value) : null;
  return url?.protocol === "wss:" || (url?.protocol === "ws:" && isLocal && isLoopback(url));
}

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
