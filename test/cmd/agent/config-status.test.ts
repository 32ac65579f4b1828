/** External configuration in the datastore, and the status of each value beside it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeNode, type Node, type RunningAgent, startAgent, until } from './harness.ts';

const CONFIG = '/vnf-agent/node1/config/';
const STATUS = '/vnf-agent/node1/config-status/';

interface Status {
  readonly key: string;
  readonly state: string;
  readonly error?: string;
  readonly last_operation?: string;
  readonly details?: readonly string[];
}

function put(node: Node, key: string, value: object | string): Promise<void> {
  return node.cluster.put(CONFIG + key, typeof value === 'string' ? value : JSON.stringify(value));
}

async function statuses(node: Node): Promise<Record<string, Status>> {
  const { entries } = await node.cluster.list(STATUS);
  return Object.fromEntries(
    entries.map(({ key, value }) => [key.slice(STATUS.length), JSON.parse(value)]),
  );
}

async function untilStates(node: Node, expected: Record<string, string>): Promise<void> {
  let found = {};
  await until(async () => {
    found = Object.fromEntries(
      Object.entries(await statuses(node)).map(([key, { state }]) => [key, state]),
    );
    return JSON.stringify(found) === JSON.stringify(expected);
  }).catch(() => assert.deepEqual(found, expected));
}

const loop1 = { name: 'loop1', type: 'SOFTWARE_LOOPBACK', enabled: true };
const arp = { interface: 'loop2', ip_address: '10.9.0.2', phys_address: '02:00:00:00:00:02' };
const LOOP1 = 'vpp/v2/interfaces/loop1';
const ARP = 'vpp/v2/arp/loop2/10.9.0.2';

describe('the status of external configuration in the datastore', () => {
  it('is written for each value, and removed with it', async () => {
    const node = makeNode();
    await put(node, LOOP1, loop1);
    await using running = await startAgent(node);
    await untilStates(node, { [LOOP1]: 'CONFIGURED' });
    assert.deepEqual((await statuses(node))[LOOP1], {
      key: `config/${LOOP1}`,
      state: 'CONFIGURED',
      last_operation: 'CREATE',
    });
    await put(node, ARP, arp);
    await untilStates(node, { [ARP]: 'PENDING', [LOOP1]: 'CONFIGURED' });
    assert.deepEqual((await statuses(node))[ARP]?.details, ['interface-exists', 'interface-is-up']);
    await put(node, 'vpp/v2/interfaces/loop2', { ...loop1, name: 'loop2' });
    await untilStates(node, {
      [ARP]: 'CONFIGURED',
      [LOOP1]: 'CONFIGURED',
      'vpp/v2/interfaces/loop2': 'CONFIGURED',
    });
    await assertAsScheduler(running);
    await node.cluster.delete(CONFIG + LOOP1);
    await untilStates(node, { [ARP]: 'CONFIGURED', 'vpp/v2/interfaces/loop2': 'CONFIGURED' });
  });

  it('says which field of a value cannot be decoded, and what stays in use', async () => {
    const node = makeNode();
    await using running = await startAgent(node);
    await put(node, LOOP1, loop1);
    await untilStates(node, { [LOOP1]: 'CONFIGURED' });
    await put(node, LOOP1, { ...loop1, mtu: 'large' });
    await put(node, 'no/such/model', {});
    await put(node, 'vpp/v2/interfaces/loop3', '{');
    await put(node, 'vpp/v2/interfaces/loop4', { ...loop1, name: 'loop5' });
    await untilStates(node, {
      'no/such/model': 'INVALID',
      [LOOP1]: 'INVALID',
      'vpp/v2/interfaces/loop3': 'INVALID',
      'vpp/v2/interfaces/loop4': 'INVALID',
    });
    const found = await statuses(node);
    assert.deepEqual(found[LOOP1], {
      key: `config/${LOOP1}`,
      state: 'INVALID',
      error:
        'mtu: expected a whole number, found "large"; the last valid value stays in use; correct the value or delete the key',
      details: ['mtu'],
    });
    assert.match(found['no/such/model']?.error ?? '', /^no model has this key; nothing is conf/);
    assert.match(found['vpp/v2/interfaces/loop3']?.error ?? '', /JSON.+; nothing is configured/);
    assert.match(
      found['vpp/v2/interfaces/loop4']?.error ?? '',
      /^the key of this value is .+loop5; nothing/,
    );
    const { body } = await running.get(`/scheduler/status?key=config/${LOOP1}`);
    assert.equal((body as { value: Status }).value.state, 'CONFIGURED');
    await put(node, LOOP1, { ...loop1, mtu: 1400 });
    await node.cluster.delete(`${CONFIG}no/such/model`);
    await node.cluster.delete(`${CONFIG}vpp/v2/interfaces/loop3`);
    await node.cluster.delete(`${CONFIG}vpp/v2/interfaces/loop4`);
    await untilStates(node, { [LOOP1]: 'CONFIGURED' });
  });

  it('of an earlier run is corrected by the next one', async () => {
    const node = makeNode();
    await put(node, LOOP1, loop1);
    const first = await startAgent(node);
    await untilStates(node, { [LOOP1]: 'CONFIGURED' });
    await first.stop();
    await node.cluster.delete(CONFIG + LOOP1);
    await put(node, ARP, arp);
    await node.cluster.put(`${STATUS}vpp/v2/interfaces/old`, '{}');
    await using _second = await startAgent(node);
    await untilStates(node, { [ARP]: 'PENDING' });
  });
});

/** Each status in the datastore is that of GET /scheduler/status. */
async function assertAsScheduler({ node, get }: RunningAgent): Promise<void> {
  for (const { key, state, last_operation } of Object.values(await statuses(node))) {
    const { value } = (await get(`/scheduler/status?key=${key}`)).body as { value: Status };
    assert.deepEqual(
      { state, last_operation },
      { state: value.state, last_operation: value.last_operation },
      key,
    );
  }
}
