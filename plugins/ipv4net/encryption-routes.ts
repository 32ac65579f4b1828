/** REST of the keys of this node. */
import { EncryptionDocument } from '#documents/encryption.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { BadRequestError, json, type Route } from '#infra/http/route.ts';
import {
  type OwnKeys,
  type OwnKeysPort,
  type Slot,
  slots,
} from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { Ipv4NetApi } from './api.ts';
import { wireguardInterface } from './names.ts';

export interface EncryptionRoutesDeps {
  readonly ownKeys: OwnKeysPort & { requestReplacement(): Promise<void> };
  readonly net: Pick<Ipv4NetApi, 'wiredKeys' | 'keyProblem'>;
  /** Minutes; 0: only by command. */
  readonly lifetime: number;
}

export function encryptionRoutes(deps: EncryptionRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/encryption',
      mutating: false,
      summary: 'whether this node encrypts, its public keys, and which of them is being replaced',
      reply: EncryptionDocument,
      handle: async () => json(await encryptionDocument(deps)),
    },
    {
      method: 'POST',
      path: '/contiv/v1/encryption/replace-keys',
      mutating: true,
      summary: 'replaces both keys of this node within four minutes, without the loss of a packet',
      reply: EncryptionDocument,
      handle: async () => {
        if (deps.net.wiredKeys() === undefined)
          throw new BadRequestError(
            'this node does not encrypt: nodeToNodeTransport is not wireguard',
          );
        await deps.ownKeys.requestReplacement();
        return json(await encryptionDocument(deps));
      },
    },
  ];
}

async function encryptionDocument({
  ownKeys,
  net,
  lifetime,
}: EncryptionRoutesDeps): Promise<EncryptionDocument> {
  const isOn = net.wiredKeys() !== undefined;
  const problem = net.keyProblem();
  const own = isOn && problem === undefined ? await ownKeys.ownKeys() : undefined;
  return {
    isOn,
    problem: problem ?? null,
    lifetimeMinutes: lifetime,
    keys: own ? slots.map((slot) => keyDocument(own, slot)) : [],
  };
}

function keyDocument(own: OwnKeys, slot: Slot): EncryptionDocument['keys'][0] {
  const { publicKey, made } = own.keys[slot];
  const isBeing = own.replacement?.slot === slot;
  const isDue = made <= own.replaceBefore;
  return {
    interface: wireguardInterface(slot),
    publicKey,
    made: rfc3339(made),
    state: isBeing ? 'being replaced' : isDue ? 'to be replaced' : 'in use',
  };
}
