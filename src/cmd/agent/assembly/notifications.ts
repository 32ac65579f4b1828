/** Events and interface states for Kafka: see docs/messaging.md. */
import type { KafkaConfig } from '#infra/messaging/config.ts';
import type { Notifier } from '#infra/messaging/notifier.ts';
import { type InterfaceState, interfaceStateModel } from '#models/vpp/interface-state.ts';
import { eventDocument } from '#plugins/controller/event-document.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';

export interface Notifications {
  /** undefined: not published. */
  readonly event: ((record: EventRecord) => void) | undefined;
  readonly interfaceState: ((state: InterfaceState) => void) | undefined;
}

/** @param label key of events, so that those of a node keep their order */
export function createNotifications(
  config: KafkaConfig | undefined,
  label: string,
  notifier: Pick<Notifier, 'notify'>,
): Notifications {
  const events = config?.['events-topic'] || undefined;
  const states = config?.['interface-state-topic'] || undefined;
  return {
    event: events
      ? (record) => {
          // A transaction may be large; GET /controller/event-history has it.
          notifier.notify(events, label, {
            ...eventDocument(record, () => undefined),
            Node: label,
          });
        }
      : undefined,
    interfaceState: states
      ? (state) =>
          notifier.notify(states, interfaceStateModel.key(state), interfaceStateModel.toJson(state))
      : undefined,
  };
}
