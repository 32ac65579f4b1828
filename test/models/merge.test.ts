import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeValues } from '#models/merge.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';

const KEY = 'config/vpp/v2/interfaces/tap1';
const value = (fields: object) => vppInterfaceModel.parse({ name: 'tap1', ...fields });

describe('merge of two values of one key', () => {
  it('keeps fields that have default values in the later one [R6.9]', () => {
    const base = value({ type: 'TAP', mtu: 1450, vrf: 1, enabled: true, tap: { version: 2 } });
    const over = value({ type: 'TAP', mtu: 9000, tap: { enable_gso: true } });
    assert.deepEqual(
      mergeValues(KEY, base, over),
      value({
        type: 'TAP',
        mtu: 9000,
        vrf: 1,
        enabled: true,
        tap: { version: 2, enable_gso: true },
      }),
    );
  });

  it('concatenates lists [R6.9]', () => {
    const merged = mergeValues(
      KEY,
      value({ ip_addresses: ['10.0.0.1/24'] }),
      value({ ip_addresses: ['10.0.1.1/24'] }),
    );
    assert.deepEqual(merged, value({ ip_addresses: ['10.0.0.1/24', '10.0.1.1/24'] }));
  });

  it('replaces the other members of a oneof', () => {
    const base = value({ type: 'TAP', enabled: true, mtu: 1450, tap: { version: 2 } });
    const memif = { type: 'MEMIF', memif: { socket_filename: '/run/m.sock', id: 1 } };
    assert.deepEqual(
      mergeValues(KEY, base, value(memif)),
      value({ ...memif, enabled: true, mtu: 1450 }),
    );
    assert.deepEqual(mergeValues(KEY, base, value({ mtu: 1300 })), { ...base, mtu: 1300 });
  });

  it('uses the later value for a key without a model', () => {
    assert.deepEqual(mergeValues('other/x', { a: 1 }, { b: 2 }), { b: 2 });
  });
});
