/** Wiring of the connection to Kafka: its status, and the notifier that publishes over it. */
import type { Registry } from 'prom-client';
import type { Clock, Random, Timer } from '../clock/clock.ts';
import { errorText } from '../errors/errors.ts';
import type { Loggers } from '../log/loggers.ts';
import type { Component } from '../process/lifecycle.ts';
import type { StatusCheck } from '../status/status.ts';
import type { MessageClient } from './api.ts';
import { type KafkaConfig, kafkaOptions } from './config.ts';
import { Multiplexer } from './multiplexer.ts';
import { Notifier } from './notifier.ts';

const PROBE_MS = 5_000;

export interface MessagingWiringDeps {
  /** undefined: the agent does not use Kafka. */
  readonly config: KafkaConfig | undefined;
  /** Service label; the consumer group, unless the configuration names one. */
  readonly label: string;
  readonly registry: Registry;
  readonly status: StatusCheck;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

export interface WiredMessaging {
  readonly notifier: Notifier;
  /** None without configuration. */
  readonly components: readonly Component[];
}

/** @throws MessagingConfigError */
export function wireMessaging(deps: MessagingWiringDeps): WiredMessaging {
  const { config, label, registry, status, clock, random, loggers } = deps;
  const log = loggers.get('kafka');
  const notifier = new Notifier({ registry, clock, random, log });
  if (config === undefined) return { notifier, components: [] };
  const options = kafkaOptions(config, label);
  const report = status.register('kafka', 'none');
  let client: MessageClient | undefined;
  let timer: Timer | undefined;
  let isClosed = false;
  const probe = async (of: MessageClient): Promise<void> => {
    try {
      await of.probe();
      const { problem } = notifier;
      report(problem === undefined ? 'ok' : 'error', problem);
    } catch (thrown) {
      report('error', errorText(thrown));
    }
    if (!isClosed) timer = clock.timer(PROBE_MS, () => void probe(of));
  };
  const component: Component = {
    name: 'Kafka',
    init: async () => {
      // The library is loaded only where it is used.
      const { KafkaClient } = await import('./kafka-client.ts');
      client = new KafkaClient({ options, clock, random, log });
      const connection = new Multiplexer(client, log).bytesConnection('notifier');
      notifier.start(({ topic, key, value }) => connection.syncPublisher(topic)(key, value));
      void probe(client);
    },
    close: async () => {
      isClosed = true;
      timer?.cancel();
      const closed = notifier.close();
      await client?.close();
      await closed;
    },
  };
  return { notifier, components: [component] };
}
