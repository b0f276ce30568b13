/** Where an address really leads. */

import type { CommandContext } from "../../../shell/dangers/context.ts";
import { checkWord } from "../../../shell/dangers/index.ts";

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

export function checkUrl(address: string, context: CommandContext): void {
  checkWord(address, context);
  const url = parsed(address);
  if (!url) context.findings.add("address", "is not a valid address", address);
  if (!url) return;
  if (url.username !== "" || url.password !== "")
    context.findings.add("address", "hides where it leads", `${url.username}@${url.host}`);
  if (/(?:^|\.)xn--/.test(url.hostname))
    context.findings.add("address", "has foreign letters in its name", url.hostname);
  if (inside.test(url.hostname))
    context.findings.add("sends", "asks for the credentials of a cloud machine", url.hostname);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    context.findings.add("address", "is not a web page", url.protocol);
}
