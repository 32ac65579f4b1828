/** Goals of planned values, and whether the values are available. */

import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import type { RejectedValue } from '../graph/node.ts';
import { type Inspection, inspect, isActual } from './inspection.ts';
import {
  AVAILABLE,
  editable,
  type Goal,
  lastValidOf,
  type Phase,
  type PlannedValue,
  UNAVAILABLE,
} from './planned-value.ts';

const noDependencies: Goal['dependencies'] = [];

/** A blocked value stays blocked; one whose claim is taken stays unavailable. */
export function setAvailable(value: PlannedValue, available: boolean): void {
  editable(value).phase = withAvailable(value.phase, available);
}

function withAvailable(phase: Phase, available: boolean): Phase {
  if (phase.state !== 'blocked') return available ? AVAILABLE : UNAVAILABLE;
  if (phase.reason === 'claim taken' || phase.available === available) return phase;
  return { ...phase, available };
}

/**
 * The goal of a planned value with a desired or, if unmanaged, a reported value.
 * @param known the same value, if it is desired already
 */
export function newGoal(
  planned: PlannedValue,
  known: Value | undefined,
  desired: Value,
  unmanaged: boolean,
  metadata: unknown,
): Goal {
  const { node } = planned;
  if (unmanaged)
    return {
      desired: undefined,
      value: desired,
      unmanaged,
      metadata,
      dependencies: noDependencies,
      rejected: undefined,
      claims: undefined,
    };
  const rejected = node?.rejected;
  if (rejected && deepEqual(rejected.value, desired)) return rejectedGoal(planned, rejected);
  let value = known;
  let inspection: Inspection;
  if (node && value !== undefined && !node.needsInspection) {
    const { desiredDependencies: dependencies } = node;
    inspection = { dependencies, invalid: undefined, claims: undefined };
  } else {
    value ??= node && isActual(node, desired) ? (node.actual as Value) : desired;
    inspection = inspect(planned, value);
  }
  const { dependencies, invalid, claims } = inspection;
  if (invalid) return rejectedGoal(planned, { value: desired, error: invalid });
  return {
    desired: value,
    value,
    unmanaged,
    metadata,
    dependencies,
    rejected: undefined,
    claims,
  };
}

/** The goal of a value whose new desired value was rejected: its last valid value stays in place. */
export function rejectedGoal(planned: PlannedValue, rejected: RejectedValue): Goal {
  const { node } = planned;
  let { desired, dependencies } = lastValidOf(node);
  if (node?.needsInspection && desired !== undefined) {
    const inspection = inspect(planned, desired);
    dependencies = inspection.dependencies;
    if (inspection.invalid) desired = undefined;
  }
  return {
    desired,
    value: desired,
    unmanaged: false,
    metadata: undefined,
    dependencies,
    rejected,
    claims: undefined,
  };
}
