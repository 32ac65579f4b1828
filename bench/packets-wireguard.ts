/**
 * Clocks of the processor that a packet costs in the graph of VPP when it is encrypted for another node, and when it is decrypted, against
 * two VPPs without agents that do the same, in the same run. Packets of 60 bytes over UDP, of 1,000 flows.
 */
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { startBareEncryptedPair } from './lib/packets/bare-encrypted-pair.ts';
import { compareEncryption } from './lib/packets/encrypted-pair.ts';
import { startOurEncryptedPair } from './lib/packets/our-encrypted-pair.ts';
import type { Print } from './main.ts';

export const NAME = 'packets-wireguard';

const WORKERS = 2;

export async function run(print: Print): Promise<void> {
  const missing = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
  if (missing) return print(`not measured: ${missing}`);
  for (const workers of [0, WORKERS]) {
    await using bare = await startBareEncryptedPair(workers);
    await using ours = await startOurEncryptedPair(workers);
    const threads = workers === 0 ? '' : ', two workers';
    for (const way of ['encrypts', 'decrypts'] as const)
      await compareEncryption(print, `IPv4, ${way}${threads}`, way, bare, ours, workers);
  }
}
