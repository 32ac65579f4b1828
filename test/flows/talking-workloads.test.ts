import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { talkingPairs } from '#flows/talking-workloads.ts';

const end = (workload: string, address: string, port: number): FlowEnd => ({
  address,
  port,
  kind: workload === '' ? 'outside' : 'pod',
  name: workload === '' ? '' : `${workload}-1`,
  workload,
});
const web = end('shop/web', '10.1.1.2', 40_000);
const db = end('shop/db', '10.1.1.3', 5432);
let count = 0;

function flow(client: FlowEnd, server: FlowEnd, given: Partial<Flow> = {}): Flow {
  return {
    id: String(++count),
    node: 'node1',
    side: 'client',
    time: '2026-01-31T12:00:00Z',
    protocol: 'TCP',
    verdict: 'open',
    reason: '',
    client,
    server,
    clientBytes: 10,
    serverBytes: 100,
    rttUs: 0,
    retransmissions: 0,
    stalledMs: 0,
    ...given,
  };
}

describe('workloads that talk', () => {
  it('are pairs with the counts of their connections, each once', () => {
    const outside = end('', '203.0.113.9', 443);
    const pairs = talkingPairs([
      flow(web, outside),
      flow(web, db),
      // the other end of the same connection
      flow(web, db, { side: 'server' }),
      flow({ ...web, port: 40_001 }, db, { verdict: 'denied', ended: '2026-01-31T12:00:09Z' }),
      flow({ ...web, port: 40_002 }, db, { verdict: 'no-answer' }),
      // its client is on another node
      flow({ ...web, address: '10.1.2.2' }, db, { side: 'server', verdict: 'refused' }),
    ]);
    assert.equal(pairs.length, 2);
    const {
      client,
      server,
      port,
      connections,
      denied,
      noAnswer,
      refused,
      clientBytes,
      lastChange,
    } = pairs[0]!;
    assert.deepEqual(
      [client, server, port, connections, denied, noAnswer, refused, clientBytes, lastChange],
      ['shop/web', 'shop/db', 5432, 4, 1, 1, 1, 40, '2026-01-31T12:00:09Z'],
    );
    assert.deepEqual([pairs[1]!.server, pairs[1]!.connections], ['203.0.113.9', 1]);
  });
});
