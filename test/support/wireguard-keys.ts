/** Key pairs of WireGuard that are the same in each run. */
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { Secret } from '#models/secret.ts';
import type { WireguardKeys } from '#plugins/controller/api/ports/wireguard.ts';

export interface TestKeyPair {
  /** Base64. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** PKCS #8 of X25519, up to the 32 bytes of the key. */
const HEAD = Buffer.from('302e020100300506032b656e04220420', 'hex');

export function testKeyPair(name: string): TestKeyPair {
  const bytes = createHash('sha256').update(name).digest();
  const key = createPrivateKey({ key: Buffer.concat([HEAD, bytes]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    privateKey: bytes.toString('base64'),
    publicKey: Buffer.from(x, 'base64url').toString('base64'),
  };
}

/** Of the names in the examples of descriptors. */
export const exampleKeys = ['own 1', 'own 2', 'own 3'].map(testKeyPair);

export const testWireguardKeys: WireguardKeys = {
  privateKeyOf: (publicKey) => {
    const pair = exampleKeys.find((one) => one.publicKey === publicKey);
    return pair && new Secret(pair.privateKey);
  },
};
