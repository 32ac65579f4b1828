/** Objects and MTUs of an operator on a real VPP. */
import { mtuSuite } from '#test/descriptors/compliance/mtu-suite.ts';
import { operatorObjectsSuite } from '#test/descriptors/compliance/operator-objects-suite.ts';
import type { SharedVpp } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { startIsolatedVpp } from '../support/vpp-process.ts';

async function realVpp(): Promise<SharedVpp> {
  const { client, stop } = await startIsolatedVpp();
  return { client, hostLink: '', stop };
}

await declareUnless(withoutIsolatedVpp(), 'changes of an operator on a real VPP', () => {
  operatorObjectsSuite(realVpp);
  mtuSuite(realVpp);
});
