import { fnv1a32 } from '#models/fnv.ts';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import { type KeyFile, keysInMemory } from '#vpp/wireguard/key-file.ts';
import { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';

const log = { info: () => undefined, error: () => undefined };

/** The same keys for the same name. */
export function testKeys(
  name: string,
  { file = keysInMemory(), wallTime = () => 1 }: { file?: KeyFile; wallTime?: () => number } = {},
): OwnKeyStore {
  let made = 0;
  const bytes = (length: number): Uint8Array => {
    made++;
    return Uint8Array.from({ length }, (_, at) => fnv1a32(`${name}/${made}/${at}`) & 0xff);
  };
  return new OwnKeyStore({ file, clock: { wallTime }, random: { bytes }, log });
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
