/** `netctl capture` with an agent whose slices are known. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parsePcap } from '#infra/pcap/pcap.ts';
import { type FakeAgent, fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';
import { ip4Frame, pcapOf } from './packets.ts';

const [TCP, UDP] = [6, 17];
const web = ip4Frame('10.1.1.2', '10.1.2.3', TCP, [40_000, 80]);
const dns = ip4Frame('10.1.1.2', '10.1.2.9', UDP, [40_001, 53]);

describe('netctl capture', () => {
  const program = new NetctlProgram();
  const folder = mkdtempSync(join(tmpdir(), 'netctl-capture-'));
  const file = join(folder, 'out.pcap');
  let agent: FakeAgent;
  before(async () => {
    const pcap = pcapOf([web, dns, web]).toString('base64');
    const attachment = { interfaces: { vpp: { name: 'vpp-tap-web', swIfIndex: 7 } } };
    agent = await fakeAgent({
      'contiv/v1/ipam': { nodeId: 1, nodeName: 'node1' },
      'contiv/v1/pods/shop/web': { namespace: 'shop', name: 'web', attachments: [attachment] },
      'vpp/capture': { packets: 3, isFull: true, pcap },
    });
  });
  after(async () => {
    program[Symbol.dispose]();
    rmSync(folder, { recursive: true });
    await agent[Symbol.asyncDispose]();
  });
  const capture = (...args: readonly string[]) =>
    program.run('capture', ...args, '--server', agent.address);
  const packets = () => parsePcap(readFileSync(file)).records.map(({ packet }) => packet);

  it('joins slices up to a number of packets, and says that VPP had more', async () => {
    const { code, stdout, stderr } = await capture('shop/web', '-f', file, '--packets', '5');
    assert.equal(code, 0, stderr);
    assert.equal(stdout, '');
    assert.deepEqual(packets(), [web, dns, web, web, dns]);
    assert.match(stderr, /^5 packets from node1\.\n {2}Packets are missing: in 2 slices/);
  });

  it('writes what the filter wants', async () => {
    const { code } = await capture('node1', '-f', file, '--packets', '2', '--on-port', '53');
    assert.equal(code, 0);
    assert.deepEqual(packets(), [dns, dns]);
  });

  it('writes the file to the standard output', async () => {
    const { code, stdout } = await capture('node1', '-f', '-', '--packets', '1');
    assert.equal(code, 0);
    // Bytes above 127 are no text.
    assert.ok(stdout.length > 16);
  });

  it('refuses what it cannot do', async () => {
    const refused: readonly (readonly [readonly string[], RegExp])[] = [
      [['node1'], /--file is missing/],
      [['node1', '-f', file, '--host', 'web'], /--host web is no IP address/],
      [['node1', '-f', file, '--seconds', '0'], /--seconds has to be a number/],
      [['shop/nix', '-f', file], /shop\/nix: no node that answered has an interface/],
      [['node1', '-f', join(folder, 'no/such'), '--packets', '1'], /ENOENT/],
    ];
    for (const [args, text] of refused) {
      const { code, stderr } = await capture(...args);
      assert.equal(code, 1, args.join(' '));
      assert.match(stderr, text);
    }
  });
});
