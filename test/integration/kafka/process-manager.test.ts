/** A Kafka broker as a process of the process manager, killed and restarted on its data. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ProcessManager } from '#infra/process-manager/process-manager.ts';
import { KafkaServer } from '#test/integration/support/kafka-server.ts';
import { withoutKafka, withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';

const skip = withoutKafka() || withoutProgram('setpriv');

/** A broker that starts refuses connections, and then topics. */
async function serves(server: KafkaServer, name: string): Promise<void> {
  let attempts = 0;
  const isCreated = () =>
    server.createTopic(`${name}-${++attempts}`, 1).then(
      () => true,
      () => false,
    );
  await until('the broker creates a topic', isCreated, 120_000);
}

describe('Kafka under the process manager', { skip, timeout: 240_000 }, () => {
  it('is restarted as often as configured, and serves its topics again', async (t) => {
    const server = await KafkaServer.prepare();
    t.after(() => server.close());
    const deps = { clock: systemClock, random: systemRandom, log: silentLogger };
    const manager = new ProcessManager(deps);
    t.after(() => manager.close());
    const [program = '', ...args] = server.command;
    const kafka = await manager.create('kafka', program, { args, restarts: 1 });
    await kafka.start();
    await serves(server, 'before');
    const { pid } = kafka;
    process.kill(pid!, 'SIGKILL');
    await until('the broker runs again', () => kafka.isAlive && kafka.pid !== pid);
    await serves(server, 'after');
    assert.ok(['running', 'sleeping'].includes(kafka.status), kafka.status);
    process.kill(kafka.pid!, 'SIGKILL');
    assert.deepEqual(await kafka.wait(), { code: undefined, signal: 'SIGKILL' });
    await systemClock.sleep(1_000);
    assert.deepEqual([kafka.status, kafka.isAlive], ['terminated', false]);
  });
});
