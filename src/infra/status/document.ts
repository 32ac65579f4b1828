/**
 * The documents of the probes, in the shape of the Go agent: its encoder writes states as numbers, and
 * omits a field with a zero value, so that a component that is starting has no `state`.
 */
import type { ComponentStatus as ComponentDocument, ProbeDocument } from '#documents/probes.ts';
import {
  type CombinedStatus,
  type ComponentState,
  type ComponentStatus,
  isFatal,
  type StatusCheck,
} from './status.ts';

/** Numbers of the states in JSON. */
export const stateNumbers: Readonly<Record<ComponentState, number>> = { init: 0, ok: 1, error: 2 };

/** The state is that of the agent, without components that are not fatal. */
export function livenessDocument(status: StatusCheck): ProbeDocument {
  return document(status, status.overall);
}

/** The state counts all components that affect readiness. */
export function readinessDocument(status: StatusCheck): ProbeDocument {
  // The Go agent fills it only with plugins that Contiv does not have.
  return document(status, status.readiness, { interface_stats: {} });
}

function document(
  status: StatusCheck,
  { state, lastChange }: CombinedStatus,
  interfaces: Pick<ProbeDocument, 'interface_stats'> = {},
): ProbeDocument {
  const { build, start, components } = status;
  const nonFatal = components.filter((one) => !isFatal(one)).map(({ name }) => name);
  return {
    ...nonZero({
      build_version: build.version,
      build_date: build.date,
      state: stateNumbers[state],
      start_time: start,
      last_change: lastChange,
      last_update: status.now(),
      ...interfaces,
      commit_hash: build.commit,
    }),
    plugins: components.map(({ name, state: its, error }) =>
      nonZero({ name, state: stateNumbers[its], error }),
    ),
    PluginStatus: Object.fromEntries(components.map((one) => [one.name, componentDocument(one)])),
    NonFatalPlugins: nonFatal.length === 0 ? null : nonFatal,
  };
}

function componentDocument({
  name,
  state,
  lastChange,
  lastUpdate,
  error,
}: ComponentStatus): ComponentDocument {
  return nonZero({
    name,
    state: stateNumbers[state],
    last_change: lastChange,
    last_update: lastUpdate,
    error,
  });
}

/** The fields that may be zero are optional in the documents. */
function nonZero<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== 0 && value !== '' && value !== undefined,
    ),
  ) as T;
}
