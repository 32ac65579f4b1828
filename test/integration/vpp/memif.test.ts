/** A memif of a real VPP, and its peer. */
import { systemClock } from '#infra/clock/system.ts';
import { type MemifBackend, memifSuite } from '#test/descriptors/compliance/memif-suite.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { startIsolatedVpp } from '../support/vpp-process.ts';

async function realVpp(): Promise<MemifBackend> {
  const { client, connect, stop } = await startIsolatedVpp();
  await client.close();
  const pass = (ms: number) => systemClock.sleep(ms);
  return { clock: systemClock, connect, links: [], pass, stop };
}

await declareUnless(withoutIsolatedVpp(), 'memif of a real VPP', () => memifSuite(realVpp));
