/**
 * A decision, behind the proof that it is beckon's own. The token is no proof: a hook sends it to whoever listens at that
 * port. This key stands in endpoint.json, is made anew at every start, and is never sent.
 */
export function signDecision(key: string, request: string, decision: string): string {
  return `${proofOf(key, request, decision)} ${decision}`;
}

/** The decision; null: it is not beckon's, or about another request. */
export function verifyDecision(key: string, request: string, line: string): string | null {
  const at = line.indexOf(" ");
  const decision = line.slice(at + 1);
  return line.slice(0, Math.max(0, at)) === proofOf(key, request, decision) ? decision : null;
}

function proofOf(key: string, request: string, decision: string): string {
  // node:crypto would take 0.8 MB more in every hook that waits.
  return new Bun.CryptoHasher("sha256", key).update(JSON.stringify([request, decision])).digest("hex");
}
