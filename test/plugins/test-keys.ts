import { createHash } from 'node:crypto';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import { type KeyFile, keysInMemory } from '#vpp/wireguard/key-file.ts';
import { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';

const log = { info: () => undefined, error: () => undefined };

/** The same keys for the same name. */
export function testKeys(
  name: string,
  {
    file = keysInMemory(),
    wallTime = () => 1,
    node = 'node-a',
  }: { file?: KeyFile; wallTime?: () => number; node?: string } = {},
): OwnKeyStore {
  let made = 0;
  const bytes = (length: number): Uint8Array => {
    made++;
    return createHash('sha256').update(`${name}/${made}`).digest().subarray(0, length);
  };
  return new OwnKeyStore({ node, file, clock: { wallTime }, random: { bytes }, log });
}

/** The sessions that VPP has, by keys of other nodes. */
export class TestSessions {
  readonly established = new Set<string>();

  async read(): Promise<readonly WireguardSession[]> {
    return [...this.established].map((publicKey) => ({
      iface: '',
      publicKey,
      isEstablished: true,
      since: new Date(0),
    }));
  }
}
