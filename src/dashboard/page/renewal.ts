/**
 * Finds out, whenever the connection was lost, whether the beckon that opened this page is there again, and renews the key: after a
 * restart the old one is worthless, and while beckon was stopped another user's program could have taken its port. Each side
 * proves to the other that it knows a secret, which this page has in memory only and never sends.
 */
import { callApi } from "./api.ts";
import { isIntercepted, setKey } from "./key.ts";

let renewal: { readonly expires: number; readonly secret: CryptoKey } | null = null;

/** Gets the secret from the beckon that this page is connected to. */
export async function loadRenewal(): Promise<void> {
  const { status, body } = await callApi("/api/page/renewal");
  const { expires, secret } = body;
  if (status !== 200 || typeof expires !== "number" || typeof secret !== "string") return;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  renewal = {
    expires,
    secret: await crypto.subtle.importKey("raw", encode(secret), algorithm, false, ["sign"]),
  };
}

/** Without a secret only a new address helps. */
export const canRenew = (): boolean => renewal !== null && !isIntercepted.value;

/** "refused": what answers is not the beckon that opened this page, or it does not accept the page. */
export async function renewKey(): Promise<"renewed" | "refused" | "unreachable"> {
  if (renewal === null || isIntercepted.value) return "refused";
  const { expires, secret } = renewal;
  const pageNonce = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
  const prove = async (who: string, nonce: unknown): Promise<string> =>
    toBase64Url(
      new Uint8Array(await crypto.subtle.sign("HMAC", secret, encode(`${who} ${pageNonce} ${nonce}`))),
    );
  const question = { expires, pageNonce };
  const challenged = await callApi("/api/page/renew", question);
  if (challenged.status === 0) return "unreachable";
  const { nonce, proof } = challenged.body;
  if (proof !== (await prove("beckon", nonce))) return "refused";
  const renewed = await callApi("/api/page/renew", { ...question, nonce, proof: await prove("page", nonce) });
  if (renewed.status === 0) return "unreachable";
  if (typeof renewed.body.key !== "string") return "refused";
  setKey(renewed.body.key);
  return "renewed";
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
