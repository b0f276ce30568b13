/**
 * Signs a decision, so that the hook can check that it comes from beckon. The token cannot prove that: the hook sends it to any
 * program that listens at the port. The key is in endpoint.json, is new at every start, and is never sent.
 */
export function signDecision(key: string, request: string, decision: string): string {
  return `${computeSignature(key, request, decision)} ${decision}`;
}

/** The decision. null if it was not signed with this key for this request. */
export function verifyDecision(key: string, request: string, signed: string): string | null {
  const at = signed.indexOf(" ");
  const decision = signed.slice(at + 1);
  return signed.slice(0, Math.max(0, at)) === computeSignature(key, request, decision) ? decision : null;
}

function computeSignature(key: string, request: string, decision: string): string {
  // node:crypto would take 0.8 MB more memory in every hook that waits.
  return new Bun.CryptoHasher("sha256", key).update(JSON.stringify([request, decision])).digest("hex");
}
