import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { talkingPairs } from '#flows/talking-workloads.ts';
import { Slices } from '#infra/clock/slices.ts';
import { systemClock } from '#infra/clock/system.ts';

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

const summedUp = (flows: readonly Flow[]) => talkingPairs(flows, new Slices(systemClock));

describe('workloads that talk', () => {
  it('are pairs with the counts of their connections, each once', async () => {
    const outside = end('', '203.0.113.9', 443);
    const pairs = await summedUp([
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

  it('are summed up in slices, so that the agent does other work meanwhile', async () => {
    const many = Array.from({ length: 50_000 }, (_, i) => flow({ ...web, port: i }, db));
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const [pair] = await summedUp(many);
    clearInterval(timer);
    assert.equal(pair?.connections, many.length);
    assert.ok(turns > 1, `${turns} turns`);
  });
});
