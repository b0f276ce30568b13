/**
 * The keys of a machine in a fleet: one signs what it says (Ed25519), the other opens what is meant for it alone (X25519). They are kept
 * as text, because they are written to a file and sent to others.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";

type Curve = "Ed25519" | "X25519";

/** What others know of a machine. */
export interface PublicKeys {
  readonly signing: string;
  readonly opening: string;
}

/** What only the machine itself knows. */
export interface OwnKeys extends PublicKeys {
  readonly secretSigning: string;
  readonly secretOpening: string;
}

export const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipher = "aes-256-gcm";

const rawPublic = (key: string): Buffer<ArrayBuffer> => Buffer.from(key, "base64url");

function createPair(curve: Curve): { readonly public: string; readonly secret: string } {
  const pair = curve === "Ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519");
  const { x = "", d = "" } = pair.privateKey.export({ format: "jwk" });
  return { public: x, secret: d };
}

export function createOwnKeys(): OwnKeys {
  const signing = createPair("Ed25519");
  const opening = createPair("X25519");
  return {
    signing: signing.public,
    opening: opening.public,
    secretSigning: signing.secret,
    secretOpening: opening.secret,
  };
}

/** Throws if the text is not a key. */
const readPublic = (crv: Curve, x: string): KeyObject =>
  createPublicKey({ key: { kty: "OKP", crv, x }, format: "jwk" });

const readSecret = (crv: Curve, x: string, d: string): KeyObject =>
  createPrivateKey({ key: { kty: "OKP", crv, x, d }, format: "jwk" });

export const createSigner = ({ signing, secretSigning }: OwnKeys): ((bytes: Uint8Array) => Buffer) => {
  const key = readSecret("Ed25519", signing, secretSigning);
  return (bytes) => sign(null, bytes, key);
};

export const createVerifier = ({ signing }: Pick<PublicKeys, "signing">) => {
  const key = readPublic("Ed25519", signing);
  return (bytes: Uint8Array, signature: Uint8Array): boolean => verify(null, bytes, key, signature);
};

/** The same in other threads: for many at once. It takes half as long again for one. */
export const createThreadedVerifier = ({ signing }: Pick<PublicKeys, "signing">) => {
  const key = crypto.subtle.importKey("raw", rawPublic(signing), "Ed25519", false, ["verify"]);
  key.catch(() => {});
  return async (bytes: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean> =>
    crypto.subtle.verify("Ed25519", await key, signature, bytes);
};

export const isPublicKeys = ({ signing, opening }: PublicKeys): boolean => {
  try {
    readPublic("Ed25519", signing);
    readPublic("X25519", opening);
    return true;
  } catch {
    return false;
  }
};

/** A random nonce, what is encrypted, and the tag. `context` is not in it, and must be the same to open it. */
export function encrypt(key: Uint8Array, context: Uint8Array, plain: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, key, nonce);
  encryption.setAAD(context);
  return Buffer.concat([nonce, encryption.update(plain), encryption.final(), encryption.getAuthTag()]);
}

/** null if it was encrypted with another key or in another context, or was changed. */
export function decrypt(key: Uint8Array, context: Uint8Array, bytes: Uint8Array): Buffer<ArrayBuffer> | null {
  if (bytes.length < nonceBytes + tagBytes) return null;
  const end = bytes.length - tagBytes;
  try {
    const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes));
    decryption.setAAD(context);
    decryption.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes, end)), decryption.final()]);
  } catch {
    return null;
  }
}

export const deriveKey = (secret: Uint8Array, salt: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, salt, `beckon fleet ${purpose}`, keyBytes));

/** Encrypts for one machine: with a pair of keys that is used once, and its opening key. */
export function encryptFor({ opening }: PublicKeys, context: Uint8Array, plain: Uint8Array): Buffer {
  const once = createPair("X25519");
  const shared = diffieHellman({
    privateKey: readSecret("X25519", once.public, once.secret),
    publicKey: readPublic("X25519", opening),
  });
  const salt = Buffer.concat([rawPublic(once.public), rawPublic(opening)]);
  return Buffer.concat([rawPublic(once.public), encrypt(deriveKey(shared, salt, "for one"), context, plain)]);
}

/** null if it is not for this machine, or was changed. */
export function decryptOwn(keys: OwnKeys, context: Uint8Array, bytes: Uint8Array): Buffer | null {
  try {
    const once = bytes.subarray(0, keyBytes);
    const shared = diffieHellman({
      privateKey: readSecret("X25519", keys.opening, keys.secretOpening),
      publicKey: readPublic("X25519", Buffer.from(once).toString("base64url")),
    });
    const salt = Buffer.concat([once, rawPublic(keys.opening)]);
    return decrypt(deriveKey(shared, salt, "for one"), context, bytes.subarray(keyBytes));
  } catch {
    return null;
  }
}
