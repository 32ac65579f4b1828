/** The document of the probes, in the shape of the Go agent. */
import { Type } from 'typebox';
import { type DocumentOf, orNull } from './document.ts';

const StateNumber = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 2, description: 'absent: starting, 1: OK, 2: error' }),
);
const UnixSeconds = Type.Optional(Type.Integer({ description: 'Unix time in seconds' }));
const OptionalText = Type.Optional(Type.String());

const ComponentStatus = Type.Object({
  name: Type.String(),
  state: StateNumber,
  last_change: UnixSeconds,
  last_update: UnixSeconds,
  error: OptionalText,
});
export type ComponentStatus = DocumentOf<typeof ComponentStatus>;

/** Fields with a zero value are left out, so that a component that is starting has no `state`. */
export const ProbeDocument = Type.Object({
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
  PluginStatus: Type.Record(Type.String(), ComponentStatus),
  NonFatalPlugins: orNull(Type.Array(Type.String()), 'null: there are none.'),
});
export type ProbeDocument = DocumentOf<typeof ProbeDocument>;
