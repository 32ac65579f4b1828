import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createSocket, Socket } from 'node:dgram';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import type { Flow } from '#documents/flows.ts';
import { collectorAddress } from '#flows/export/collector-address.ts';
import { FlowExporter } from '#flows/export/flow-exporter.ts';
import type { FlowSink } from '#flows/export/flow-sink.ts';
import { IpfixCollector } from '#flows/export/ipfix-collector.ts';
import { JsonLines } from '#flows/export/json-lines.ts';
import { FlowRing } from '#flows/flow-ring.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';

const end = (address: string, port: number) =>
  ({ address, port, kind: 'pod', name: 'shop/web', workload: 'shop/web' }) as const;

function flow(id: string, given: Partial<Flow> = {}): Flow {
  return {
    id,
    node: 'node1',
    side: 'client',
    time: '2026-01-31T12:00:00.120Z',
    protocol: 'TCP',
    verdict: 'open',
    reason: '',
    client: end('10.1.1.2', 40_000),
    server: end('10.1.2.3', 80),
    clientBytes: 0,
    serverBytes: 0,
    rttUs: 0,
    retransmissions: 0,
    stalledMs: 0,
    ...given,
  };
}

const ENDED = '2026-01-31T12:00:02Z';

describe('exported flows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'flows-'));
  after(() => rmSync(folder, { recursive: true }));

  function exporting(sink: FlowSink, capacity = 100) {
    const clock = new ManualClock();
    const ring = new FlowRing(capacity);
    const exporter = new FlowExporter({ sink, ring, clock, log: silentLogger });
    const put = (...flows: readonly Flow[]) => {
      for (const one of flows) ring.put({ flow: one, changedAt: clock.now() });
    };
    const dropped: Flow[] = [];
    ring.onDrop((_, record) => dropped.push(record.flow));
    return { clock, exporter, put, dropped };
  }

  it('are lines of JSON, each change once, without those that were only opened', async () => {
    const path = join(folder, 'made', 'flows.jsonl');
    const { clock, exporter, put } = exporting(new JsonLines({ path, maxBytes: 1_000_000 }));
    const lines = (): Flow[] =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Flow]));
    exporter.start();
    put(flow('a'), flow('b', { verdict: 'no-answer' }));
    const whole = flow('a', { ended: ENDED, clientBytes: 10 });
    await clock.advance(1_000);
    await until('a file is there', () => existsSync(path) && lines().length === 1);
    put(whole, ...Array.from({ length: 50 }, (_, i) => flow(`c${i}`, { ended: ENDED })));
    await clock.advance(1_000);
    await until('all are there', () => lines().length === 52);
    assert.deepEqual(lines()[1], whole);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await exporter.close();
  });

  it('fill a file up to its size, and keep the one before', async () => {
    const path = join(folder, 'small.jsonl');
    const sink = new JsonLines({ path, maxBytes: 1 });
    for (const id of ['a', 'b', 'c']) await sink.write([flow(id, { ended: ENDED })]);
    assert.match(readFileSync(path, 'utf8'), /"id":"c"/);
    assert.match(readFileSync(`${path}.1`, 'utf8'), /"id":"b"/);
  });

  it('begin a line of their own after one that was cut by a full disk or a crash', async () => {
    const path = join(folder, 'cut.jsonl');
    const sink = new JsonLines({ path, maxBytes: 1_000_000 });
    writeFileSync(path, '{"id":"cut');
    await sink.write([flow('a', { ended: ENDED })]);
    await sink.write([flow('b', { ended: ENDED })]);
    const [cut, ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n');
    assert.equal(cut, '{"id":"cut');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as Flow).id),
      ['a', 'b'],
    );
  });

  it('are not written to what is no file', async () => {
    const sink = new JsonLines({ path: folder, maxBytes: 1_000_000 });
    await assert.rejects(sink.write([flow('a', { ended: ENDED })]), /is no file/);
  });

  it('fail while the socket to the collector cannot be bound, and are sent when it can', async (t) => {
    const collector = createSocket('udp4').bind(0, '127.0.0.1');
    await once(collector, 'listening');
    const { port } = collector.address();
    const sink = new IpfixCollector({ address: '127.0.0.1', family: 4, port }, systemClock);
    const refused = t.mock.method(Socket.prototype, 'bind', function bind(this: Socket) {
      queueMicrotask(() => this.emit('error', new Error('bind EAFNOSUPPORT')));
      return this;
    });
    await assert.rejects(sink.write([flow('a', { ended: ENDED })]), /EAFNOSUPPORT/);
    refused.mock.restore();
    const received = once(collector, 'message');
    await sink.write([flow('a', { ended: ENDED })]);
    await received;
    sink.close();
    collector.close();
  });

  it('are written at the end, too, whenever that comes', async () => {
    const path = join(folder, 'end.jsonl');
    const { exporter, put } = exporting(new JsonLines({ path, maxBytes: 1_000_000 }));
    exporter.start();
    put(flow('last', { ended: ENDED }));
    await exporter.close();
    assert.match(readFileSync(path, 'utf8'), /"id":"last"/);
  });

  it('go to an address with a port', () => {
    const [v4, v6] = ['192.0.2.9:4739', '[2001:db8::9]:65535'].map(collectorAddress);
    assert.deepEqual(v4, { address: '192.0.2.9', family: 4, port: 4739 });
    assert.deepEqual(v6, { address: '2001:db8::9', family: 6, port: 65_535 });
    for (const text of ['192.0.2.9:0', '192.0.2.9:65536', '999.0.0.1:1', '[::::]:1', '[]:1'])
      assert.equal(collectorAddress(text), undefined, text);
  });

  it('come again after a failure, and those that have left the memory are counted', async () => {
    const written: string[] = [];
    let isBroken = true;
    const sink: FlowSink = {
      name: 'exportFile',
      write: async (flows) => {
        if (isBroken) throw new Error('ENOSPC: no space left');
        written.push(...flows.map(({ id }) => id));
      },
      close: () => undefined,
    };
    const { clock, exporter, put } = exporting(sink, 3);
    exporter.start();
    put(flow('a', { ended: ENDED }));
    await clock.advance(1_000);
    assert.equal(exporter.fault?.code, 'CV_FLOWS_EXPORT');
    assert.match(exporter.fault.message, /^exportFile: ENOSPC/);
    put(...['b', 'c', 'd', 'e'].map((id) => flow(id, { ended: ENDED })));
    isBroken = false;
    await clock.advance(5_000);
    assert.deepEqual([written, exporter.missed, exporter.fault], [['c', 'd', 'e'], 2, undefined]);
    await exporter.close();
  });

  it('are counted as missed once each, not their changes, nor those that are not exported', async () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 9 }).map(String),
      isEnded: fc.boolean(),
      isWritten: fc.constantFrom('no', 'no', 'no', 'fails', 'yes'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), async (changes) => {
        const written = new Set<string>();
        let isBroken = false;
        const sink: FlowSink = {
          name: 'exportFile',
          write: async (flows) => {
            if (isBroken) throw new Error('EIO');
            for (const { id, reason } of flows) written.add(`${id} ${reason}`);
          },
          close: () => undefined,
        };
        const { exporter, put, clock, dropped } = exporting(sink, 3);
        exporter.start();
        for (const [at, { id, isEnded, isWritten }] of changes.entries()) {
          put(flow(id, { reason: String(at), ...(isEnded && { ended: ENDED }) }));
          if (isWritten === 'no') continue;
          isBroken = isWritten === 'fails';
          await clock.advance(6_000);
        }
        const lost = dropped.filter(
          ({ id, reason, ended }) => ended !== undefined && !written.has(`${id} ${reason}`),
        );
        assert.equal(exporter.missed, lost.length);
        await exporter.close();
      }),
    );
  });

  it('have consecutive numbers in IPFIX, although a message was not sent', async (t) => {
    const collector = createSocket('udp4').bind(0, '127.0.0.1');
    await once(collector, 'listening');
    const sequences: number[] = [];
    collector.on('message', (message) => sequences.push(message.readUInt32BE(8)));
    const { port } = collector.address();
    const sink = new IpfixCollector({ address: '127.0.0.1', family: 4, port }, systemClock);
    const some = ['a', 'b', 'c'].map((id) => flow(id, { ended: ENDED }));
    await sink.write(some);
    const send = t.mock.method(Socket.prototype, 'send', (...args: unknown[]) =>
      (args.at(-1) as (error: Error) => void)(new Error('send ENETUNREACH')),
    );
    await assert.rejects(sink.write(some), /ENETUNREACH/);
    send.mock.restore();
    await sink.write(some);
    await sink.write(some);
    // templates, and three times three records
    await until('all have come', () => sequences.length === 4);
    assert.deepEqual(sequences, [0, 0, 3, 6]);
    sink.close();
    collector.close();
  });

  it('are readable by nfdump as IPFIX, in both families', {
    skip: withoutProgram('nfcapd', 'nfdump'),
  }, async () => {
    const files = join(folder, 'nfcapd');
    mkdirSync(files);
    const probe = createSocket('udp4').bind(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address();
    probe.close();
    await once(probe, 'close');
    const collector = spawn('nfcapd', ['-l', files, '-b', '127.0.0.1', '-p', String(port)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [collector.stdout, collector.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
      });
    await until('nfcapd listens', () => /Startup|Bound to/.test(output));
    const sink = new IpfixCollector({ address: '127.0.0.1', family: 4, port }, systemClock);
    const v6 = { client: end('fd01::2', 40_001), server: end('fd01::3', 443) };
    const many = Array.from({ length: 60 }, (_, i) =>
      flow(`m${i}`, { ended: ENDED, client: end('10.1.1.9', 1_000 + i) }),
    );
    await sink.write([
      flow('a', { ended: ENDED, clientBytes: 1_234, serverBytes: 56_789 }),
      flow('b', { ended: ENDED, ...v6, clientBytes: 5 }),
      flow('u', { ended: ENDED, protocol: 'UDP', server: end('10.1.2.3', 53) }),
      ...many,
    ]);
    await sink.write([flow('c', { ended: ENDED, verdict: 'denied', client: end('10.1.1.8', 7) })]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    collector.kill('SIGTERM');
    await once(collector, 'exit');
    sink.close();
    const [file = ''] = readdirSync(files).filter((name) => name.startsWith('nfcapd.'));
    const fmt = 'fmt:%ts %te %pr %sap %dap %byt %obyt';
    const { stdout } = await promisify(execFile)('nfdump', [
      '-q',
      '-6',
      '-r',
      join(files, file),
      '-o',
      fmt,
    ]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.replaceAll(/\s+/g, ' ').trim());
    const times = '2026-01-31 12:00:00.120 2026-01-31 12:00:02.000 TCP';
    assert.equal(lines.length, 64);
    for (const line of [
      `${times} 10.1.1.2:40000 10.1.2.3:80 1234 56789`,
      `${times} 10.1.1.9:1059 10.1.2.3:80 0 0`,
      `${times} fd01::2.40001 fd01::3.443 5 0`,
      `${times} 10.1.1.8:7 10.1.2.3:80 0 0`,
      `${times.replace('TCP', 'UDP')} 10.1.1.2:40000 10.1.2.3:53 0 0`,
    ])
      assert.ok(lines.includes(line), `${line}: ${lines[61]}`);
  });
});
