/** A TAP of VPP that an agent could not take its mark from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { keyedValue } from '#test/descriptors/compliance/example-values.ts';
import { TestAgent } from '#test/descriptors/transitions/test-agent.ts';
import { simulatedLinux } from './backends.ts';

function tapToVpp(vppTap: string) {
  return keyedValue(linuxInterfaceModel, {
    name: 'linux-tap',
    type: 'TAP_TO_VPP',
    host_if_name: 'eth0',
    enabled: true,
    tap: { vpp_tap_if_name: vppTap },
  });
}

test('a TAP that its value does not want any more is found by the mark that it kept', async () => {
  const backend = await simulatedLinux();
  const vppTap = keyedValue(vppInterfaceModel, {
    name: 'vpp-tap',
    type: 'TAP',
    tap: { version: 2, host_if_name: 'tap-0' },
  });
  let refused = 0;
  for (let n = 1, more = true; more; n++) {
    const agent = new TestAgent(backend);
    const former = tapToVpp('vpp-tap');
    const wanted = tapToVpp('not-there');
    await agent.resync(new Map([vppTap, former].map(({ key, value }) => [key, value])));
    const change = new Map([[wanted.key, wanted.value]]);
    more = (await agent.updateRefused(change, n)).isRefused;
    if (more) refused++;
    await agent.recover();
    await agent.close();
    const next = new TestAgent(backend);
    await next.resync(new Map([vppTap, wanted].map(({ key, value }) => [key, value])));
    await next.update(new Map([[wanted.key, null]]));
    await next.assertSettled();
    await next.resync(new Map());
    await next.close();
  }
  assert.ok(refused > 1, `${refused} refused`);
  await backend.stop();
});
