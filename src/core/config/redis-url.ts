/** The address of a server of Redis or Valkey, as users write it. Pure. */

export interface RedisUrl {
  /** redis:// or rediss://, with the user's name if there is one, without a password. */
  readonly url: string;
  readonly password: string | null;
}

const maxLength = 500;

/** A text says what is wrong with it, and never repeats it: it can have a password. */
export function readRedisUrl(text: string): RedisUrl | string {
  if (/^rediss?[+-](?:sentinel|cluster)/i.test(text) || /^rediss?:\/\/[^/]*,/i.test(text))
    return "Sentinel and Cluster addresses cannot be used: name one server, the primary or a node of the cluster";
  if (text.length > maxLength || !URL.canParse(text))
    return "is not an address, like rediss://user@host:6379/0";
  const url = new URL(text);
  if (!/^rediss?:$/.test(url.protocol) || url.hostname === "")
    return "is not an address of Redis: it starts with redis:// or rediss://";
  if (!/^(?:\/\d*)?$/.test(url.pathname) || url.search !== "" || url.hash !== "")
    return "has more after the host than the number of a database, like /0";
  const password = url.password === "" ? null : decodeURIComponent(url.password);
  url.password = "";
  return { url: url.href, password };
}
