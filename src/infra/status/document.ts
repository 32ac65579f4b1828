/**
 * The documents of the probes, in the shape of the Go agent: its encoder writes states as numbers, and
 * omits a field with a zero value, so that a component that is starting has no `state`.
 */
import { Type } from 'typebox';
import {
  type CombinedStatus,
  type ComponentState,
  type ComponentStatus,
  isFatal,
  type StatusCheck,
} from './status.ts';

/** Numbers of the states in JSON. */
export const stateNumbers: Readonly<Record<ComponentState, number>> = { init: 0, ok: 1, error: 2 };

const StateNumber = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2, description: 'absent: starting, 1: OK, 2: error' }),
);
const UnixSeconds = Type.Optional(Type.Integer({ description: 'Unix time in seconds' }));
const OptionalText = Type.Optional(Type.String());

/** Of both probes, for the OpenAPI document. */
export const statusDocumentSchema = Type.Object({
  build_version: OptionalText,
  build_date: OptionalText,
  state: StateNumber,
  start_time: UnixSeconds,
  last_change: UnixSeconds,
  last_update: UnixSeconds,
  interface_stats: Type.Optional(Type.Object({})),
  commit_hash: OptionalText,
  plugins: Type.Array(
    Type.Object({ name: Type.String(), state: StateNumber, error: OptionalText }),
  ),
  PluginStatus: Type.Record(
    Type.String(),
    Type.Object({
      name: Type.String(),
      state: StateNumber,
      last_change: UnixSeconds,
      last_update: UnixSeconds,
      error: OptionalText,
    }),
  ),
  NonFatalPlugins: Type.Union([Type.Array(Type.String()), Type.Null()]),
});

/** The state is that of the agent, without components that are not fatal. */
export function livenessDocument(status: StatusCheck): Record<string, unknown> {
  return document(status, status.overall);
}

/** The state counts all components that affect readiness. */
export function readinessDocument(status: StatusCheck): Record<string, unknown> {
  // The Go agent fills it only with plugins that Contiv does not have.
  return document(status, status.readiness, { interface_stats: {} });
}

function document(
  status: StatusCheck,
  { state, lastChange }: CombinedStatus,
  interfaces: { interface_stats?: object } = {},
): Record<string, unknown> {
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

function componentDocument({ name, state, lastChange, lastUpdate, error }: ComponentStatus) {
  return nonZero({
    name,
    state: stateNumbers[state],
    last_change: lastChange,
    last_update: lastUpdate,
    error,
  });
}

function nonZero(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== 0 && value !== '' && value !== undefined,
    ),
  );
}
