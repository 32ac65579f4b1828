import { after, before, describe } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { KafkaClient } from '#infra/messaging/kafka-client.ts';
import { messagingCompliance } from '#test/infra/messaging/compliance.ts';
import { withoutKafka } from '#test/support/requirements.ts';
import { KafkaServer } from '../support/kafka-server.ts';

describe('multiplexer on Kafka', { skip: withoutKafka(), timeout: 600_000 }, () => {
  let server: KafkaServer;
  before(async () => {
    server = await KafkaServer.start();
  });
  after(() => server?.close());

  messagingCompliance(() => ({
    client: (groupId) =>
      new KafkaClient({
        options: { brokers: [{ host: '127.0.0.1', port: server.port }], groupId, clientId: 'test' },
        clock: systemClock,
        random: seededRandom(1),
        log: silentLogger,
      }),
    createTopic: (name, partitions) => server.createTopic(name, partitions),
  }));
});
