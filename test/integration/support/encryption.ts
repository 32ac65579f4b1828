/** Questions of the suites of encryption to real nodes. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EncryptionDocument } from '#documents/encryption.ts';
import { until } from '#test/support/wait.ts';
import { Capture } from './capture.ts';
import type { RealNode } from './node.ts';

export const wireguard = { nodeToNodeTransport: 'wireguard' } as const;

const PORTS = 'udp portrange 51820-51821';
const NEIGHBOR_DISCOVERY = /^(fe80:|fd16:|::)|> (ff02:|fe80:)/;
/** Both slots have a window within four minutes, and a replacement takes one. */
const REPLACEMENT_LIMIT_MS = 330_000;

async function encryptionOf({ agent }: RealNode): Promise<EncryptionDocument> {
  return (await agent.get('/contiv/v1/encryption')).body as EncryptionDocument;
}

export async function keysOf(node: RealNode): Promise<EncryptionDocument['keys']> {
  return (await encryptionOf(node)).keys;
}

/** Resolves when each node has sessions with all others. */
export async function allEncrypted(nodes: readonly RealNode[]): Promise<void> {
  for (const [at, node] of nodes.entries())
    await until(`node ${at + 1} has sessions with all others`, async () => {
      const { isOn, otherNodes } = await encryptionOf(node);
      return isOn && otherNodes.encrypted === nodes.length - 1;
    });
}

/** Resolves when the node has two keys that are none of these, and replaces none. */
export async function newKeys(node: RealNode, before: EncryptionDocument['keys']): Promise<void> {
  const old = new Set(before.map(({ publicKey }) => publicKey));
  await until(
    'both keys are new',
    async () => {
      const now = await keysOf(node);
      return now.every(({ publicKey, state }) => !old.has(publicKey) && state === 'in use');
    },
    REPLACEMENT_LIMIT_MS,
  );
}

/**
 * Runs the action; what leaves or enters the node meanwhile by its uplink must be WireGuard or neighbor discovery.
 * @returns the numbers of both, for people
 */
export async function encryptedPackets(
  { netns }: Pick<RealNode, 'netns'>,
  action: () => Promise<void>,
): Promise<string> {
  const capture = await Capture.start(netns.path, 'uplink');
  try {
    await action();
    // the kernel gives tcpdump what it has captured after up to a second
    await sleep(1_500);
    const packets = await capture.packets(PORTS);
    const others = await capture.packets(`(ip or ip6) and not ${PORTS}`);
    assert.deepEqual(
      others
        .map(({ from, to }) => `${from} > ${to}`)
        .filter((text) => !NEIGHBOR_DISCOVERY.test(text)),
      [],
    );
    assert.ok(packets.length > 10, `${packets.length} packets`);
    return `${packets.length} packets of WireGuard, ${others.length} of neighbor discovery`;
  } finally {
    capture.remove();
  }
}
