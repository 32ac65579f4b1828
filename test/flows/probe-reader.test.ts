/** Messages of VPP about flows of memifs: those that are received, and those that are refused. */
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { ProbeReader } from '#flows/probe/probe-reader.ts';
import { type OpenProbeSocket, openProbeSocket } from '#flows/probe/probe-socket.ts';
import type { ProbedFlow } from '#flows/probe/probed-flow.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { FlowProbePort } from '#plugins/controller/api/ports/flow-probe.ts';
import { until } from '#test/support/wait.ts';
import { data, type Sent, TEMPLATE_4, template } from './probe-messages.ts';

const VPP = '172.30.1.1';
const exporter = { address: '172.30.1.2', port: 4740, source: VPP };
const sent: Sent = { source: '10.1.1.2', destination: '10.1.2.3', rx: 1 };
type Exporter = ReturnType<FlowProbePort['exporter']>;

function started(open: OpenProbeSocket | undefined = undefined, isReady = () => true) {
  const clock = new ManualClock();
  const state: { exporter: Exporter; isClosed: boolean; receive?: Parameters<OpenProbeSocket>[1] } =
    { exporter, isClosed: false };
  const opened: string[] = [];
  const flows: ProbedFlow[] = [];
  const reader = new ProbeReader({
    probe: { exporter: () => state.exporter, isProbed: (index) => index === 1, probed: 1 },
    flows: { add: (flow) => flows.push(flow), settle: () => undefined, displaced: 0 },
    open:
      open ??
      (async ({ address, port }, receive) => {
        opened.push(`${address} ${port}`);
        state.receive = receive;
        return { close: () => (state.isClosed = true) };
      }),
    isReady,
    clock,
    log: silentLogger,
  });
  reader.start();
  return { reader, clock, state, opened, flows };
}

describe('messages of VPP about memifs', () => {
  it('are taken from the address of VPP alone, and of interfaces that are probed', async () => {
    const { reader, clock, state, flows } = started();
    await clock.advance(10);
    const receive = state.receive!;
    receive(template(0, TEMPLATE_4), VPP);
    receive(data(0, sent), '10.1.1.7');
    receive(Buffer.from('none'), VPP);
    receive(data(0, { ...sent, rx: 2 }), VPP);
    assert.deepEqual([flows.length, reader.refused, reader.lost], [0, 2, 0]);
    receive(data(1, sent), VPP);
    assert.deepEqual([flows.length, reader.refused, reader.lost], [1, 2, 0]);
    await reader.close();
    assert.equal(state.isClosed, true);
  });

  it('have a socket while VPP is configured to send them, and ends have names', async () => {
    let isReady = false;
    const { reader, clock, state, opened } = started(undefined, () => isReady);
    await clock.advance(5_000);
    assert.deepEqual(opened, []);
    isReady = true;
    await clock.advance(5_000);
    assert.deepEqual(opened, ['172.30.1.2 4740']);
    state.exporter = { ...exporter, address: '172.30.2.2' };
    await clock.advance(1_000);
    assert.deepEqual(opened, ['172.30.1.2 4740', '172.30.2.2 4740']);
    state.isClosed = false;
    state.exporter = undefined;
    await clock.advance(1_000);
    assert.equal(state.isClosed, true);
    await reader.close();
  });

  it('that cannot be received are reported after 10 s, until they can be', async () => {
    let isTaken = true;
    const { reader, clock } = started(async () => {
      if (isTaken) throw new Error('bind EADDRINUSE');
      return { close: () => undefined };
    });
    const fault = () => reader.fault;
    await clock.advance(9_000);
    assert.equal(fault(), undefined);
    await clock.advance(2_000);
    assert.equal(fault()?.code, 'CV_FLOWS_PROBE');
    assert.match(fault()!.message, /EADDRINUSE/);
    isTaken = false;
    await clock.advance(1_000);
    assert.equal(fault(), undefined);
    await reader.close();
  });

  it('arrive at a socket of UDP', async () => {
    const client = await bound();
    const { port } = client.address();
    client.close();
    const { reader, clock, state, flows } = started(openProbeSocket);
    state.exporter = { address: '127.0.0.1', port, source: '127.0.0.1' };
    await clock.advance(10);
    const sender = await bound();
    try {
      await until('they arrive', async () => {
        await clock.advance(1_000);
        for (const one of [template(0, TEMPLATE_4), data(0, sent)])
          sender.send(one, port, '127.0.0.1');
        return flows.length > 0;
      });
    } finally {
      sender.close();
      await reader.close();
    }
  });
});

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return socket;
}
