import { describe } from 'node:test';
import { messagingCompliance } from './compliance.ts';
import { MemoryBroker } from './memory-broker.ts';

describe('multiplexer on topics in memory', () => {
  const broker = new MemoryBroker();
  messagingCompliance(() => ({
    client: (groupId) => broker.client(groupId),
    createTopic: async (topic, partitions) => broker.createTopic(topic, partitions),
  }));
});
