import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeDocument } from '#documents/nodes.ts';
import { lastLine, nodeState } from '../../../ui/src/views/nodes/node-state.ts';

const KEY = 'config/vpp/v2/interfaces/vxlan-default-2';

const reached: NodeDocument = {
  id: 2,
  name: 'node2',
  isThisNode: false,
  vppAddresses: ['192.168.16.2/24'],
  managementAddresses: ['172.16.0.2'],
  problems: [],
  podCidr: '',
  link: {
    kind: 'tunnel',
    address: '192.168.16.2',
    whyUnreachable: null,
    encryption: null,
    values: { state: 'CONFIGURED', total: 9, faults: [] },
  },
  sessions: [],
  tunnel: { interface: 'vxlan-default-2', key: KEY, state: 'CONFIGURED', counters: null },
};

describe('state of a node', () => {
  it('is that of its tunnel, or of the routes to it', () => {
    assert.deepEqual(nodeState(reached), {
      tone: 'good',
      text: 'tunnel CONFIGURED',
      reason: undefined,
    });
    const { link } = reached;
    const routes = { ...reached, link: { ...link!, kind: 'routes' as const }, tunnel: null };
    assert.equal(nodeState(routes).text, 'routes CONFIGURED');
    assert.equal(nodeState({ ...reached, isThisNode: true, link: null }).text, 'this node');
  });

  it('says why the node is not reached', () => {
    const link = {
      ...reached.link!,
      kind: 'none' as const,
      whyUnreachable: 'it has announced no IPv4 address of its VPP',
    };
    assert.deepEqual(nodeState({ ...reached, link, tunnel: null }), {
      tone: 'bad',
      text: 'not reached',
      reason: 'it has announced no IPv4 address of its VPP',
    });
    assert.equal(nodeState({ ...reached, link: null }).tone, 'waiting');
  });

  it('is that of the worst value, with its key and error', () => {
    const faulty = (state: string, tunnelState: string): NodeDocument => ({
      ...reached,
      link: {
        ...reached.link!,
        values: { state, total: 9, faults: [{ key: KEY, state, error: 'no memory' }] },
      },
      tunnel: { ...reached.tunnel!, state: tunnelState },
    });
    assert.deepEqual(nodeState(faulty('FAILED', 'FAILED')), {
      tone: 'bad',
      text: 'tunnel FAILED',
      reason: `${KEY}: no memory`,
    });
    assert.equal(nodeState(faulty('FAILED', 'CONFIGURED')).text, 'values FAILED');
    assert.equal(nodeState(faulty('PENDING', 'PENDING')).tone, 'waiting');
  });
});

describe('last line of a box', () => {
  it('is the traffic of the tunnel in words, with its drops', () => {
    const rates = { inBits: 1e6, outBits: 1e6, inPackets: 0, outPackets: 0, drops: 3, errors: 0 };
    assert.equal(lastLine(reached, rates), '2 Mbit/s, drops 3/s');
    assert.equal(lastLine(reached, undefined), 'rates unknown');
    assert.equal(lastLine({ ...reached, tunnel: null }, undefined), 'ID 2');
  });
});
