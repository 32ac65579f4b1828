import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePcap } from '#infra/pcap/pcap.ts';
import { hostOf, matches, type PacketFilter } from '#netctl/capture/packet-filter.ts';
import { ip4Frame, pcapOf, tunneled } from './packets.ts';

const TCP = 6;
const web = ip4Frame('10.1.1.2', '10.1.2.3', TCP, [40_000, 80]);

function isIn(frame: Buffer, filter: Partial<PacketFilter>): boolean {
  return matches(frame, { host: undefined, port: undefined, protocol: undefined, ...filter });
}

describe('the filter of captured packets', () => {
  it('wants all without a condition', () => {
    for (const frame of [web, Buffer.alloc(0), Buffer.alloc(14)]) assert.ok(isIn(frame, {}));
  });

  it('compares hosts, ports and protocols of both directions', () => {
    for (const host of ['10.1.1.2', '10.1.2.3']) assert.ok(isIn(web, { host: hostOf(host) }));
    for (const port of [80, 40_000]) assert.ok(isIn(web, { port }));
    assert.ok(isIn(web, { host: hostOf('10.1.1.2'), port: 80, protocol: 'tcp' }));
    assert.equal(isIn(web, { host: hostOf('10.1.1.9') }), false);
    assert.equal(isIn(web, { port: 81 }), false);
    assert.equal(isIn(web, { protocol: 'udp' }), false);
  });

  it('looks into tunnels, at one packet at a time', () => {
    const frame = tunneled(web);
    assert.ok(isIn(frame, { host: hostOf('10.1.1.2'), port: 80 }));
    assert.ok(isIn(frame, { host: hostOf('192.168.16.1'), port: 4789, protocol: 'udp' }));
    assert.equal(isIn(frame, { host: hostOf('192.168.16.1'), port: 80 }), false);
  });

  it('knows VLAN tags, IPv6, ARP and fragments', () => {
    const tagged = Buffer.concat([
      web.subarray(0, 12),
      Buffer.from('8100000a', 'hex'),
      web.subarray(12),
    ]);
    assert.ok(isIn(tagged, { port: 80 }));
    const addresses = `${'fd00'.padEnd(31, '0')}1${'fd00'.padEnd(31, '0')}2`;
    const echo = `${'02'.repeat(12)}86dd6000000000083aff${addresses}8000000000000000`;
    const ping6 = Buffer.from(echo, 'hex');
    assert.ok(isIn(ping6, { protocol: 'icmp', host: hostOf('fd00::2') }));
    const arp = Buffer.from(
      `${'ff'.repeat(12)}0806000108000604000102000000000a0a010102000000000000c0a81003`,
      'hex',
    );
    assert.ok(isIn(arp, { protocol: 'arp', host: hostOf('10.1.1.2') }));
    const fragment = Buffer.from(web);
    fragment.writeUInt16BE(0x00b9, 20);
    assert.equal(isIn(fragment, { port: 80 }), false);
    assert.ok(isIn(fragment, { protocol: 'tcp' }));
  });
});

describe('a file of pcap', () => {
  it('has its packets, without one that is cut', () => {
    const file = pcapOf([web, tunneled(web)]);
    const { header, records } = parsePcap(file);
    assert.deepEqual(Buffer.concat([header, ...records.map(({ bytes }) => bytes)]), file);
    assert.deepEqual(
      parsePcap(file.subarray(0, -1)).records.map(({ packet }) => packet),
      [web],
    );
    assert.deepEqual(parsePcap(Buffer.alloc(0)), { header: Buffer.alloc(0), records: [] });
  });
});
