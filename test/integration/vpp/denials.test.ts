/** Packets that the ACLs of a real VPP deny, in both families and directions, are counted, and some of them are kept. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import { VppDenials } from '#vpp/packets/denials.ts';
import { PcapTrace } from '#vpp/packets/pcap-trace.ts';
import { ConnectedProcess } from '#vpp/stats/connected-process.ts';
import { SegmentStatistics } from '#vpp/stats/statistics.ts';
import { VppProcess } from '../support/vpp-process.ts';

const families = {
  4: { client: '10.0.0.2', server: '10.1.0.2', header: 'IP4', acl: 0 },
  6: { client: 'fd00::2', server: 'fd01::2', header: 'IP6', acl: 1 },
} as const;
const SENT = 100;

describe('denials of VPP', { skip: withoutVpp() }, () => {
  let vpp: VppProcess;
  let client: BinapiClient;
  let statistics: SegmentStatistics;
  let denials: VppDenials;
  let mac = '';

  before(async () => {
    vpp = new VppProcess();
    await vpp.start();
    for (const command of [
      'create packet-generator interface pg0',
      'create packet-generator interface pg1',
      'set interface state pg0 up',
      'set interface state pg1 up',
      'set interface ip address pg0 10.0.0.1/24',
      'set interface ip address pg1 10.1.0.1/24',
      'set interface ip address pg0 fd00::1/64',
      'set interface ip address pg1 fd01::1/64',
      'set ip neighbor pg1 10.1.0.2 02:00:00:00:00:02',
      'set ip neighbor pg1 fd01::2 02:00:00:00:00:02',
      'set acl-plugin acl deny src 0.0.0.0/0',
      'set acl-plugin acl ipv6 deny src ::/0',
    ])
      await vpp.cli(command);
    mac = /Ethernet address (\S+)/.exec(await vpp.cli('show hardware-interfaces pg0'))![1]!;
    client = await vpp.client();
    statistics = new SegmentStatistics(new ConnectedProcess(client), systemClock);
    const pcapTrace = new PcapTrace({ client, rootOf: (pid) => `/proc/${pid}/root` });
    denials = new VppDenials({ statistics, pcapTrace });
  });
  after(async () => {
    statistics?.close();
    await client?.close();
    await vpp?.remove();
  });

  /** Packets to the other interface, of which ports of the client differ. */
  async function send(family: 4 | 6, protocol: 'TCP' | 'UDP', place: string): Promise<void> {
    const before = (await denials.counts()).get(place) ?? 0;
    const { client: from, server: to, header } = families[family];
    const frame = `${header}: 02:00:00:00:00:01 -> ${mac} ${protocol}: ${from} -> ${to} ${protocol}: 1234 -> 53`;
    await vpp.cli(
      `packet-generator new { name s limit ${SENT} rate 1e6 size 128-128 interface pg0 node ethernet-input data { ${frame} incrementing 30 } }`,
    );
    await vpp.cli('packet-generator enable-stream s');
    const isThere = async () => (await denials.counts()).get(place) === before + SENT;
    await until('they are denied', isThere, 20_000);
    await vpp.cli('packet-generator delete s');
  }

  for (const [direction, iface, word] of [
    ['out', 'pg1', 'output'],
    ['in', 'pg0', 'input'],
  ] as const)
    for (const family of [4, 6] as const)
      for (const protocol of ['TCP', 'UDP'] as const)
        it(`${direction}, IPv${family}, ${protocol}`, async () => {
          const place = `acl-plugin-${direction}-ip${family}-fa`;
          const { acl } = families[family];
          await vpp.cli(`set acl-plugin interface ${iface} ${word} acl ${acl}`);
          try {
            assert.ok(await denials.begin(place));
            const begun = systemClock.now();
            await send(family, protocol, place);
            const { count, packets } = await denials.end();
            assert.equal(count, 64);
            assert.equal(packets.length, count);
            const { client: from, server: to } = families[family];
            for (const one of packets) {
              assert.equal(one.protocol, protocol);
              assert.deepEqual(one.source, { address: from, port: 1234 });
              assert.deepEqual(one.destination, { address: to, port: 53 });
              assert.ok(Math.abs(one.time - begun) < 60_000, `${one.time} ${begun}`);
            }
            assert.deepEqual(await denials.end(), { count: 0, packets: [] });
          } finally {
            await vpp.cli(`set acl-plugin interface ${iface} ${word} acl ${acl} del`);
          }
        });

  it('of another place are not kept', async () => {
    await vpp.cli('set acl-plugin interface pg1 output acl 0');
    assert.ok(await denials.begin('acl-plugin-in-ip4-fa'));
    await send(4, 'UDP', 'acl-plugin-out-ip4-fa');
    assert.equal((await denials.end()).count, 0);
  });

  it('the capture of an operator continues', async () => {
    await vpp.cli('pcap trace rx max 10 intfc any file operator.pcap');
    assert.equal(await denials.begin('acl-plugin-out-ip4-fa'), false);
    assert.equal((await denials.end()).count, 0);
    assert.match(await vpp.cli('pcap trace status'), /operator\.pcap/);
    await vpp.cli('pcap trace off');
  });

  it('what was kept for an agent that was killed is taken by the next one', async () => {
    assert.ok(await denials.begin('acl-plugin-out-ip4-fa'));
    await send(4, 'UDP', 'acl-plugin-out-ip4-fa');
    const pcapTrace = new PcapTrace({ client, rootOf: (pid) => `/proc/${pid}/root` });
    assert.equal((await new VppDenials({ statistics, pcapTrace }).end()).count, 64);
    assert.doesNotMatch(await vpp.cli('pcap trace status'), /enabled/);
  });
});
