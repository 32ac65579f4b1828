/** A memif of a real VPP, and its peer. */
import { test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { type MemifBackend, memifSuite } from '#test/descriptors/compliance/memif-suite.ts';
import { noVppBecause, startVpp } from '../support/vpp-descriptors.ts';

async function realVpp(): Promise<MemifBackend> {
  const { client, connect, stop } = await startVpp();
  await client.close();
  const pass = (ms: number) => systemClock.sleep(ms);
  return { clock: systemClock, connect, links: [], pass, stop };
}

const reason = noVppBecause();
if (reason === undefined) memifSuite(realVpp);
else test.skip(`memif of a real VPP: ${reason}`);
