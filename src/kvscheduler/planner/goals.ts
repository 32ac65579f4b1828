/** Goals of planned values, and whether the values are available. */

import type { Value } from '../api/transaction.ts';
import { inspect, isActual } from './inspection.ts';
import {
  AVAILABLE,
  editable,
  type Goal,
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
      invalid: undefined,
      claims: undefined,
    };
  let value = known;
  let inspection: Pick<Goal, 'dependencies' | 'invalid' | 'claims'>;
  if (node && value !== undefined && !node.needsInspection) {
    const { desiredDependencies: dependencies, invalid } = node;
    inspection = { dependencies, invalid, claims: undefined };
  } else {
    value ??= node && isActual(node, desired) ? (node.actual as Value) : desired;
    inspection = inspect(planned, value);
  }
  const { dependencies, invalid, claims } = inspection;
  return { desired: value, value, unmanaged, metadata, dependencies, invalid, claims };
}
