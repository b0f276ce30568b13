/** Where an address really leads. */
import { judgeWord } from "../../shell/dangers/commands.ts";
import type { CommandContext } from "../../shell/dangers/look.ts";

/** null: the host stands there as plainly as it can. */
export function plainHost(address: string): string | null {
  const url = parsed(address);
  if (!url) return null;
  const written = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]*)/i.exec(address)?.[1] ?? "";
  const host = url.host === "" ? url.protocol : url.host;
  const isPlain = written.toLowerCase() === host && !/xn--/.test(host);
  return isPlain ? null : host;
}

function parsed(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null;
}

const inside = /^(?:169\.254\.|metadata\.google\.internal$|\[?fd00:ec2)/;

export function judgeUrl(address: string, look: CommandContext): void {
  judgeWord(address, look);
  const url = parsed(address);
  if (!url) look.found.add("address", "is no address that can be read", address);
  if (!url) return;
  if (url.username !== "" || url.password !== "")
    look.found.add("address", "hides where it leads", `${url.username}@${url.host}`);
  if (/(?:^|\.)xn--/.test(url.hostname))
    look.found.add("address", "leads to a name in foreign letters", url.hostname);
  if (inside.test(url.hostname))
    look.found.add("sends", "asks for the keys of a cloud machine", url.hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    look.found.add("address", "is no page of the web", url.protocol);
}
