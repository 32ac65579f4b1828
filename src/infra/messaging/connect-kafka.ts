import type { MessageClient } from './api.ts';
import type { KafkaClientDeps } from './kafka-client.ts';

/**
 * A client whose watches of topics are those of a member of the group in its options. It connects when it is first
 * used; the library of Kafka is loaded here, and not by those who do without.
 */
export async function connectKafka(deps: KafkaClientDeps): Promise<MessageClient> {
  const { KafkaClient } = await import('./kafka-client.ts');
  return new KafkaClient(deps);
}
