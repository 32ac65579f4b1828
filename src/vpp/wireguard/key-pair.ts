import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Random } from '#infra/clock/clock.ts';

/** Of X25519, in Base64. */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

const KEY_BYTES = 32;
/** PKCS #8 of a private key of X25519, before its 32 bytes. */
const pkcs8Head = Buffer.from('302e020100300506032b656e04220420', 'hex');

export function newKeyPair(random: Pick<Random, 'bytes'>): KeyPair {
  const privateKey = Buffer.from(random.bytes(KEY_BYTES)).toString('base64');
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

/** @throws if the text is no private key */
export function publicKeyOf(privateKey: string): string {
  const bytes = Buffer.from(privateKey, 'base64');
  if (bytes.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes`);
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Head, bytes]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
}
