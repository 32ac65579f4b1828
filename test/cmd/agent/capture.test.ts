/** `POST /vpp/capture`, with a VPP that answers as VPP 26.06 does. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { answer } from '#infra/http/route.ts';
import { ip4Frame, pcapOf } from '#test/netctl/capture/packets.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { PcapTrace } from '#vpp/packets/pcap-trace.ts';
import { captureRoutes } from '../../../src/cmd/agent/capture/routes.ts';

const frame = ip4Frame('10.1.1.2', '10.1.2.3', 6, [40_000, 80]);

describe('POST /vpp/capture', () => {
  let root = '';
  let commands: string[] = [];
  let isRunning = false;
  let frames: readonly Buffer[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'capture-'));
    mkdirSync(join(root, 'tmp'));
    [commands, isRunning, frames] = [[], false, [frame, frame]];
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const file = () => join(root, 'tmp/contiv-capture.pcap');

  function cli(cmd: string): { reply: string } {
    commands.push(cmd);
    if (cmd === 'pcap trace status')
      return {
        reply: isRunning
          ? 'pcap rx and tx dispatch capture enabled: 0 of 2000 pkts...\ncapture to file /tmp/contiv-capture.pcap\n'
          : 'pcap dispatch capture disabled\n',
      };
    if (cmd !== 'pcap trace off') {
      isRunning = true;
      return { reply: '' };
    }
    isRunning = false;
    if (frames.length === 0) throw new Error('VPP answered -1');
    writeFileSync(file(), pcapOf(frames));
    return { reply: 'Write 2 packets' };
  }

  const client = {
    request: async (name: string, { cmd = '' }: { cmd?: string }) =>
      name === 'control_ping' ? { vpe_pid: 1 } : cli(cmd),
    dump: async (_: string, { sw_if_index }: { sw_if_index: number }) =>
      sw_if_index === 7 ? [{ interface_name: 'tap3' }] : [],
  } as unknown as VppClient;

  const route = (isSimulated = false) =>
    captureRoutes({
      client,
      pcapTrace: new PcapTrace({ client, rootOf: () => root }),
      clock: systemClock,
      isSimulated,
    })[0]!;
  const ask = (body: unknown, its = route()) => answer(its, { query: {}, params: {}, body });

  it('returns the packets of an interface, and leaves neither file nor capture', async () => {
    const { status, body } = await ask({ milliseconds: 1, swIfIndex: 7 });
    assert.equal(status, 200);
    const pcap = pcapOf(frames).toString('base64');
    assert.deepEqual(body, { packets: 2, isFull: false, pcap });
    assert.match(commands.join('\n'), /^pcap trace rx tx max 2000 .* intfc tap3 file /m);
    assert.deepEqual([isRunning, existsSync(file())], [false, false]);
  });

  it('is empty without packets, at which VPP fails', async () => {
    frames = [];
    const { status, body } = await ask({ milliseconds: 1 });
    assert.deepEqual([status, body], [200, { packets: 0, isFull: false, pcap: '' }]);
    assert.match(commands.join('\n'), / intfc any /);
  });

  it('ends the capture of an agent that was killed', async () => {
    isRunning = true;
    await ask({ milliseconds: 1 });
    assert.deepEqual(commands.slice(0, 2), ['pcap trace status', 'pcap trace off']);
  });

  it('refuses a second one, invalid arguments, and a simulated VPP', async () => {
    const its = route();
    const first = ask({ milliseconds: 50 }, its);
    assert.equal((await ask({ milliseconds: 1 }, its)).status, 503);
    assert.equal((await first).status, 200);
    for (const body of [undefined, {}, { milliseconds: 0 }, { milliseconds: 60_000 }])
      assert.equal((await ask(body)).status, 400);
    const text = { milliseconds: 1, swIfIndex: 'any\nset interface state tap0 down' };
    assert.equal((await ask(text)).status, 400);
    assert.equal((await ask({ milliseconds: 1, swIfIndex: 8 })).status, 404);
    assert.equal((await ask({ milliseconds: 1 }, route(true))).status, 500);
  });
});
