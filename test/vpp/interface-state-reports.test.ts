import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import type { InterfaceState } from '#models/vpp/interface-state.ts';
import { toMac } from '#vpp/binapi/addresses.ts';
import type { SwInterfaceDetails } from '#vpp/binapi/messages.gen.ts';
import { InterfaceStateReports } from '#vpp/interface-state-reports.ts';

function details(more: Partial<SwInterfaceDetails>): SwInterfaceDetails {
  return {
    sw_if_index: 3,
    flags: 1,
    link_duplex: 2,
    link_speed: 10_000_000,
    link_mtu: 9000,
    interface_name: 'tap0',
    l2_address: toMac('02:fe:00:00:00:01'),
    ...more,
  } as SwInterfaceDetails;
}

test('a state is reported when it changes, in the units of the original', async () => {
  const clock = new ManualClock();
  const found: InterfaceState[] = [];
  const reports = new InterfaceStateReports(clock, (state) => found.push(state));
  const seconds = () => Math.floor(clock.now() / 1000);
  reports.report('a', 'TAP', undefined);
  assert.equal(found.length, 0, 'it does not exist yet');
  reports.report('a', 'TAP', details({}));
  reports.report('a', 'TAP', details({}));
  assert.deepEqual(found.splice(0), [
    {
      name: 'a',
      internal_name: 'tap0',
      type: 'TAP',
      if_index: 3,
      admin_status: 'UP',
      oper_status: 'DOWN',
      last_change: seconds(),
      phys_address: '02:fe:00:00:00:01',
      speed: 10_000_000_000,
      mtu: 9000,
      duplex: 'FULL',
    },
  ]);
  await clock.advance(5_000);
  reports.report('a', 'TAP', details({ flags: 3 }));
  const up = found.pop()!;
  assert.deepEqual([up.oper_status, up.last_change, found], ['UP', seconds(), []]);
  await clock.advance(5_000);
  reports.report('a', undefined, undefined);
  reports.report('a', undefined, undefined);
  assert.deepEqual(found.splice(0), [
    { ...up, admin_status: 'DELETED', oper_status: 'DELETED', last_change: seconds() },
  ]);
});
