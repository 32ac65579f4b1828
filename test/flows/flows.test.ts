/** Records of flows, with a simulated kernel. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { ended, opened, unanswered } from './connection-events.ts';
import { pod, startedFlows } from './started-flows.ts';

describe('flows', () => {
  it('have the names of their ends, and the bytes of both', async () => {
    const { source, flows } = startedFlows();
    source.push(opened('1'));
    const [open] = await flows();
    assert.equal(open?.verdict, 'open');
    assert.equal(open?.ended, undefined);
    assert.deepEqual(open?.client, {
      address: '10.1.1.2',
      port: 40_000,
      kind: 'pod',
      name: 'shop/client-abc-1',
      workload: 'shop/client',
    });
    assert.equal(open?.server.name, 'shop/server');
    source.push(ended('1'));
    const [closed, ...others] = await flows();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [closed?.verdict, closed?.ended, closed?.clientBytes, closed?.serverBytes],
      ['open', '2026-01-31T12:00:02Z', 100, 2_000],
    );
    assert.deepEqual([closed?.rttUs, closed?.retransmissions], [250, 1]);
  });

  it('are those of a server, too', async () => {
    const { source, flows } = startedFlows();
    const given = {
      side: 'server',
      local: { address: '10.1.2.3', port: 80 },
      remote: { address: '198.51.100.7', port: 555 },
    } as const;
    source.push(opened('1', given), ended('1', { ...given, sent: 7, received: 9 }));
    const [flow] = await flows();
    assert.deepEqual(flow?.client, {
      address: '198.51.100.7',
      port: 555,
      kind: 'outside',
      name: '',
      workload: '',
    });
    assert.equal(flow?.server.name, 'shop/server');
    assert.deepEqual([flow?.clientBytes, flow?.serverBytes], [9, 7]);
  });

  it('name nodes, and the service that was asked', async () => {
    const { source, flows } = startedFlows();
    source.push(
      opened('1', { isOfHost: true, local: { address: '172.30.0.2', port: 1 } }),
      opened('2', { remote: { address: '192.168.16.2', port: 22 } }),
      opened('3', { service: { address: '10.96.0.10', port: 80 } }),
      opened('4', { service: { address: '192.0.2.2', port: 30_080 } }),
      opened('5', { service: { address: '10.96.0.99', port: 80 } }),
      opened('6', { remote: { address: '10.96.0.10', port: 80 } }),
      opened('7', { remote: { address: '192.0.2.1', port: 80 } }),
      opened('8', { remote: { address: '172.30.2.2', port: 80 } }),
    );
    const found = await flows();
    const [host, peer, asked, nodePort, unknown, translated, hostPod, link] = found;
    assert.deepEqual([host?.client.kind, host?.client.name], ['node', 'node1']);
    assert.deepEqual([peer?.server.kind, peer?.server.name], ['node', 'node2']);
    assert.equal(asked?.service?.name, 'shop/web');
    assert.equal(asked?.server.name, 'shop/server');
    assert.equal(nodePort?.service?.name, 'shop/web');
    assert.equal(unknown?.service?.name, '');
    assert.deepEqual([translated?.server.kind, translated?.server.name], ['service', 'shop/web']);
    assert.deepEqual([hostPod?.server.kind, hostPod?.server.name], ['node', 'node1']);
    assert.deepEqual([link?.server.kind, link?.server.name], ['node', 'node2']);
  });

  it('follow the changes of Kubernetes', async () => {
    const { peers, source, flows } = startedFlows();
    source.push(opened('1'));
    await flows();
    const change = (previous: object | undefined, current: object | undefined) =>
      peers.observe(KubeStateChange.event({ resource: 'pod', key: 'k', previous, current }));
    const before = pod('server', '10.1.2.3');
    change(undefined, pod('next', '10.1.2.3'));
    change(before, undefined);
    source.push(opened('2'), ended('1'));
    const [second, first] = await flows();
    assert.equal(second?.server.name, 'shop/next');
    // as when it began
    assert.equal(first?.server.name, 'shop/server');
  });

  it('have verdicts', async () => {
    const { source, flows } = startedFlows();
    source.push(ended('1', { outcome: 'refused' }));
    source.push(ended('2', { outcome: 'unanswered' }));
    source.push(unanswered('3'));
    source.push(unanswered('4'), opened('4'));
    source.push(unanswered('5'), ended('5', { outcome: 'unanswered' }));
    const found = await flows();
    assert.deepEqual(
      found.map(({ verdict, ended: end }) => [verdict, end !== undefined]),
      [
        ['refused', true],
        ['no-answer', true],
        ['no-answer', false],
        ['open', false],
        ['no-answer', true],
      ],
    );
  });

  it('are denied, with the reason, until they are open', async () => {
    const { source, flows } = startedFlows();
    const remote = { address: '10.1.2.3', port: 5_432 };
    source.push(unanswered('1', { remote }), unanswered('2', { remote }), unanswered('3'));
    await flows();
    source.push(ended('1', { remote, outcome: 'unanswered' }), opened('2', { remote }));
    const found = await flows();
    assert.deepEqual(
      found.map(({ id, verdict, reason }) => [id, verdict, reason]),
      [
        ['3', 'no-answer', ''],
        ['1', 'denied', 'a policy'],
        ['2', 'open', ''],
      ],
    );
  });

  it('name the pod that has an address now, although the record of another one still contains it', async () => {
    let asked = 0;
    const { source, flows } = startedFlows({
      allocations() {
        asked++;
        const pod = { namespace: 'shop', name: 'next' };
        return new Map([
          ['10.1.1.2', { address: '10.1.1.2', pod, podUid: undefined, attachment: 'a' }],
        ]);
      },
    });
    const remote = { address: '198.51.100.7', port: 443 };
    source.push(opened('1', { remote }), opened('2', { remote }));
    assert.deepEqual(
      (await flows()).map(({ client }) => client.name),
      ['shop/next', 'shop/next'],
    );
    // the list of a node has some hundred addresses, and is made when it is asked for
    assert.equal(asked, 1);
  });

  it('have reasons that take long one after the other, with turns of the event loop in between', async () => {
    let turns = 0;
    const seen: number[] = [];
    const { source, clock, flows } = startedFlows({
      findReason: async () => {
        clock.jump(4);
        seen.push(turns);
        return undefined;
      },
    });
    const turn = clock.turn.bind(clock);
    clock.turn = () => {
      turns++;
      return turn();
    };
    source.push(...Array.from({ length: 20 }, (_, at) => unanswered(`${at}`)));
    await flows();
    while (seen.length < 20) await turn();
    assert.ok(new Set(seen).size >= 8, seen.join());
  });

  it('shorten addresses outside', async () => {
    const { source, flows } = startedFlows({ shortens: true });
    source.push(
      opened('1', { remote: { address: '198.51.100.7', port: 443 } }),
      opened('2', {
        side: 'server',
        local: { address: '10.1.2.3', port: 80 },
        remote: { address: '2001:db8:1:2:3::4', port: 5 },
      }),
    );
    const [out, into] = await flows();
    assert.deepEqual([out?.server.address, out?.server.port], ['198.51.100.0/24', 443]);
    assert.deepEqual([into?.client.address, into?.client.port], ['2001:db8:1:2::/64', undefined]);
  });
});
