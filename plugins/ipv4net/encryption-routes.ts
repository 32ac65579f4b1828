/** REST of the keys of this node, and of how packets to the others are protected. */
import { EncryptionDocument } from '#documents/encryption.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { BadRequestError, json, type Route } from '#infra/http/route.ts';
import {
  type OwnKeys,
  type OwnKeysPort,
  type Slot,
  slots,
} from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { Ipv4NetApi, NodeEncryption } from './api.ts';
import type { EncryptionReport, EncryptionStatus } from './encryption-status.ts';
import { wireguardInterface } from './names.ts';

export interface EncryptionRoutesDeps {
  readonly ownKeys: OwnKeysPort & { requestReplacement(): Promise<void> };
  readonly net: Pick<Ipv4NetApi, 'wiredKeys' | 'encryptionProblem'>;
  readonly status: Pick<EncryptionStatus, 'report'>;
  /** Minutes; 0: only by command. */
  readonly lifetime: number;
}

export function encryptionRoutes(deps: EncryptionRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/encryption',
      mutating: false,
      summary:
        'whether this node encrypts, its public keys, which of them is being replaced, and how packets to the others are protected',
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

/** Names of each list of a document. */
const MAX_NAMES = 20;

async function encryptionDocument({
  ownKeys,
  net,
  status,
  lifetime,
}: EncryptionRoutesDeps): Promise<EncryptionDocument> {
  const isOn = net.wiredKeys() !== undefined;
  const problem = net.encryptionProblem();
  const own = isOn && problem === undefined ? await ownKeys.ownKeys() : undefined;
  return {
    isOn,
    problem: problem ?? null,
    lifetimeMinutes: lifetime,
    keys: own ? slots.map((slot) => keyDocument(own, slot)) : [],
    otherNodes: otherNodes(status.report()),
  };
}

function otherNodes(report: EncryptionReport | undefined): EncryptionDocument['otherNodes'] {
  const { counts, withoutSession = [], isolated = [], inClearText = [] } = report ?? {};
  const countOf = (state: NodeEncryption): number => counts?.get(state) ?? 0;
  return {
    encrypted: countOf('encrypted'),
    withoutSession: countOf('no-session'),
    isolated: countOf('isolated'),
    inClearText: countOf('clear-text'),
    unreachable: countOf('unreachable'),
    namesWithoutSession: withoutSession
      .slice(0, MAX_NAMES)
      .map(({ name, duration }) => ({ name, seconds: Math.floor(duration / 1_000) })),
    namesIsolated: isolated.slice(0, MAX_NAMES),
    namesInClearText: inClearText.slice(0, MAX_NAMES),
  };
}

function keyDocument(own: OwnKeys, slot: Slot): EncryptionDocument['keys'][0] {
  const { publicKey, made, isUnwanted } = own.keys[slot];
  const isBeing = own.replacement?.slot === slot;
  return {
    interface: wireguardInterface(slot),
    publicKey,
    made: rfc3339(made),
    state: isBeing ? 'being replaced' : isUnwanted ? 'to be replaced' : 'in use',
  };
}
