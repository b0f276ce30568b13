/** Names an installation of beckon. Only its app and its hooks know the token; no imports, because hooks load this. */

/** A host's name would not do: on macOS it changes with the network, and then every session would seem to be another machine's. */
export const nameInstallation = (token: string): string =>
  new Bun.CryptoHasher("sha256").update(token).digest("hex").slice(0, 16);
