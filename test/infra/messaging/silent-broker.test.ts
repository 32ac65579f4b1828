import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { KafkaClient } from '#infra/messaging/kafka-client.ts';

describe('a broker that accepts connections and answers nothing', { timeout: 60_000 }, () => {
  it('fails the probe in time, and the end of the client ends what waits', async (t) => {
    const server = createServer((socket) => socket.on('error', () => undefined).resume());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const client = new KafkaClient({
      options: { brokers: [{ host: '127.0.0.1', port }], groupId: 'g', clientId: 'c' },
      // Limits of time pass twenty times as fast.
      clock: {
        ...systemClock,
        timer: (ms, callback) => systemClock.timer(ms / 20, callback),
        sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
      },
      random: seededRandom(1),
      log: silentLogger,
    });
    const start = systemClock.monotonic();
    await assert.rejects(client.probe(), {
      code: 'CV_MESSAGING_UNAVAILABLE',
      message: /no answer in 10 s/,
    });
    assert.ok(systemClock.monotonic() - start < 5_000);
    const published = client.publish({ topic: 't', key: 'k', value: Buffer.from('v') }, 'all');
    const rejected = assert.rejects(published, { code: 'CV_MESSAGING_CLOSED' });
    await client.close();
    await rejected;
  });
});
