/** Events of the controller: database changes, resyncs, healing and shutdown. */

import {
  Direction,
  defineEvent,
  type Event,
  EventMethod,
  type EventMethod as EventMethodType,
  TransactionType,
} from './event.ts';

/** Canonical values of reflected resources as JSON, by keyword and key without prefix. */
export type KubeSnapshot = Readonly<Record<string, Readonly<Record<string, object>>>>;

/** External configuration: key without agent prefix to canonical value. */
export type ExternalSnapshot = Readonly<Record<string, object>>;

export interface DbResyncPayload {
  /** Read from the local mirror because the database is unavailable. */
  readonly local: boolean;
  readonly kubeState: KubeSnapshot;
  readonly externalConfig: ExternalSnapshot;
  /** The database has lost the state of Kubernetes, and an operator accepted that. */
  readonly acceptedEmpty?: boolean;
  /** Keys in `kubeState` that the database has lost; they are kept for a grace period. */
  readonly retained?: readonly string[];
}

export interface KubeStateChangePayload {
  /** Keyword of the resource, for example `pod`. */
  readonly resource: string;
  /** Without the reflector's prefix. */
  readonly key: string;
  /** undefined: the value is new. */
  readonly previous: object | undefined;
  /** undefined: the value was deleted. */
  readonly current: object | undefined;
}

/** Limits of a description: characters of a value and items of a list. */
const MAX_CHARACTERS = 4096;
const MAX_ITEMS = 200;

function compact(value: object | undefined): string {
  if (value === undefined) return '<nil>';
  const text = JSON.stringify(value);
  if (text.length <= MAX_CHARACTERS) return text;
  const more = text.length - MAX_CHARACTERS;
  return `${text.slice(0, MAX_CHARACTERS)}… (${more} more characters)`;
}

/** The first names of a list, and the number of the others. */
function shortened(names: readonly string[]): { shown: string[]; more: string[] } {
  const hidden = names.length - MAX_ITEMS;
  return {
    shown: names.slice(0, MAX_ITEMS).sort(),
    more: hidden > 0 ? [`… ${hidden} more`] : [],
  };
}

export const KubeStateChange = defineEvent<KubeStateChangePayload>({
  id: 'kube-state-change',
  blocking: false,
  name: 'Kubernetes State Change',
  // put together by V8 when it is read: each event has one, and almost none is
  describe: ({ resource, key, previous, current }) =>
    `Kubernetes State Change\n* resource: ${resource}\n* key: ${key}\n` +
    `* prev-value: ${compact(previous)}\n* new-value: ${compact(current)}`,
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffort,
  direction: (payload) => (payload.current === undefined ? Direction.Reverse : Direction.Forward),
});

function nameOf(key: string, value: object): string {
  const { name, namespace } = value as { name?: string; namespace?: string };
  if (!name) return key;
  return namespace ? `${namespace}/${name}` : name;
}

export const DbResync = defineEvent<DbResyncPayload>({
  id: 'database-resync',
  blocking: false,
  name: 'Database Resync',
  describe: (payload) => {
    const lines: string[] = [];
    for (const resource of Object.keys(payload.kubeState).sort()) {
      const values = payload.kubeState[resource]!;
      const keys = Object.keys(values);
      if (keys.length === 0) continue;
      const { shown, more } = shortened(keys);
      const names = shown.map((key) => nameOf(key, values[key]!)).sort();
      lines.push(
        `* ${keys.length}x ${resource}`,
        ...[...names, ...more].map((name) => `    - ${name}`),
      );
    }
    const external = Object.keys(payload.externalConfig);
    if (external.length > 0) {
      const { shown, more } = shortened(external);
      const items = [...shown, ...more].join(', ');
      lines.push(`* ${external.length}x external config items: ${items}`);
    }
    if (payload.retained) {
      const { shown, more } = shortened(payload.retained);
      lines.push(`* lost by the database, kept for now: ${[...shown, ...more].join(', ')}`);
    }
    const headline = `Database Resync (${payload.local ? 'Local' : 'Remote'} DB)`;
    if (payload.acceptedEmpty)
      lines.unshift('* without any state of Kubernetes: accepted by the resync request');
    else if (lines.length === 0) return `${headline} - empty dataset`;
    return [headline, ...lines].join('\n');
  },
  method: EventMethod.FullResync,
});

/**
 * Whether a later Database Resync contains what the event says: the watcher of the database sends both, in
 * the order in which it has read them. After the resync, the event would bring back an older value.
 */
export function isReplacedByDbResync(event: Event): boolean {
  if (KubeStateChange.is(event) || DbResync.is(event)) return true;
  return ExternalConfigChange.is(event) && event.payload.source === DATASTORE_SOURCE;
}

export type HealingPayload =
  | { readonly type: 'periodic' }
  | { readonly type: 'after-error'; readonly error: string };

export const HealingResync = defineEvent<HealingPayload>({
  id: 'healing-resync',
  blocking: false,
  name: 'Healing Resync',
  describe: (payload) =>
    payload.type === 'periodic'
      ? 'Healing Resync (Periodic)'
      : `Healing Resync (After error: ${payload.error})`,
  method: (payload): EventMethodType =>
    payload.type === 'periodic' ? EventMethod.DownstreamResync : EventMethod.FullResync,
});

/** The agent shuts down. */
export const Shutdown = defineEvent<{
  /** Un-deploy: remove all managed values. */ readonly cleanup: boolean;
}>({
  id: 'shutdown',
  blocking: true,
  name: 'Shutdown',
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffort,
  direction: Direction.Forward,
});

export interface ExternalConfigChangePayload {
  /** Label of the source; `db` is the datastore. */
  readonly source: string;
  /** Key without agent prefix to canonical value; null deletes the value. */
  readonly values: Readonly<Record<string, object | null>>;
}

function externalChangeText({ source, values }: ExternalConfigChangePayload): string {
  const keys = Object.keys(values);
  const deleted = keys.filter((key) => values[key] === null).length;
  const mixed = deleted > 0 && deleted < keys.length;
  const label = mixed ? '' : deleted > 0 ? ', DEL' : ', PUT';
  const { shown, more } = shortened(keys);
  const lines = shown.flatMap((key) => {
    const value = values[key]!;
    const prefix = mixed ? `[${value === null ? 'DEL' : 'PUT'}] ` : '';
    return [`* ${prefix}key: ${key}`, ...(value ? [`  new-value: ${compact(value)}`] : [])];
  });
  return [
    `External Config Change [${source.toUpperCase()}${label}]`,
    ...lines,
    ...more.map((text) => `* ${text}`),
  ].join('\n');
}

/** A source of external configuration changed values. */
export const ExternalConfigChange = defineEvent<ExternalConfigChangePayload>({
  id: 'external-config-change',
  blocking: 'optional',
  name: 'External Config Change',
  describe: externalChangeText,
  method: EventMethod.Update,
  transactionType: TransactionType.BestEffort,
  direction: Direction.Forward,
});

export interface ExternalConfigResyncPayload {
  readonly source: string;
  readonly values: ExternalSnapshot;
}

/** A source of external configuration replaced all of its values. */
export const ExternalConfigResync = defineEvent<ExternalConfigResyncPayload>({
  id: 'external-config-resync',
  blocking: 'optional',
  name: 'External Config Resync',
  describe: ({ source, values }) => {
    const { shown, more } = shortened(Object.keys(values));
    return [
      `External Config Resync [${source.toUpperCase()}]`,
      ...shown.map((key) => `* key: ${key}`),
      ...more.map((text) => `* ${text}`),
    ].join('\n');
  },
  method: EventMethod.UpstreamResync,
});

/** All desired values are recalculated and compared with the actual state; differences are only logged. */
export const VerificationResync = defineEvent<Readonly<Record<string, never>>>({
  id: 'verification-resync',
  blocking: false,
  name: 'Verification Resync',
  method: EventMethod.UpstreamResync,
});

/** Label of the datastore as a source of external configuration. */
export const DATASTORE_SOURCE = 'db';

/**
 * A source of configuration besides the handlers. It reports changes by the two events above.
 */
export interface ExternalConfigSource {
  readonly label: string;
  /** All of its values; read with every Database Resync. */
  snapshot(): Promise<ExternalSnapshot>;
}
