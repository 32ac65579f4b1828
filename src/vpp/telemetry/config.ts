import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

/** Groups of metrics: the second part of their names. */
const metricGroupSchema = Type.Union([
  Type.Literal('runtime'),
  Type.Literal('memory'),
  Type.Literal('buffers'),
  Type.Literal('nodes'),
  Type.Literal('interfaces'),
]);
export type MetricGroup = Static<typeof metricGroupSchema>;
export const metricGroups: readonly MetricGroup[] = metricGroupSchema.anyOf.map(
  (group) => group.const,
);

/** `telemetry.conf`: the metrics `vpp_runtime_…`, `vpp_memory_…` and so on of the original. */
export const telemetrySchema = Type.Object({
  'polling-interval': Duration({
    default: 30_000_000_000,
    positive: true,
    // as in the original
    leastMs: 1000,
    description: 'Interval at which these metrics are read from VPP; at least 1s.',
  }),
  disabled: Type.Boolean({
    default: false,
    description: 'Do not read them. Metrics with other names are not affected.',
  }),
  'prometheus-disabled': Type.Boolean({
    default: false,
    description: 'The same as disabled: only Prometheus reads what is polled.',
  }),
  skipped: Type.Array(metricGroupSchema, {
    default: [],
    description: 'Metrics that are not read: runtime, memory, buffers, nodes or interfaces.',
  }),
});
export type TelemetryConfig = Static<typeof telemetrySchema>;
