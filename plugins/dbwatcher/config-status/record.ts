/** The records of the states of external configuration in the store. */
import type { ExternalValue } from '../last-known-state.ts';

/** Values with these keys, below the prefix of the agent, have a status below the other one. */
const CONFIG = 'config/';
/** As ligato's orchestrator names it. */
export const CONFIG_STATUS = 'config-status/';

/** Texts are cut, so that one value cannot fill the store. */
const MAX_TEXT = 1024;
const MAX_DETAILS = 32;

/** State of a value of the scheduler. */
export interface ValueState {
  readonly key: string;
  readonly state: string;
  readonly error?: string;
  readonly last_operation?: string;
  readonly details?: readonly string[];
  /** State of the last valid value, which stays in place. */
  readonly last_valid_state?: string;
}

/** State of a value and of the values that are derived from it. */
export interface ValueStates {
  readonly value: ValueState;
  readonly derived_values?: readonly ValueState[];
}

/** States that a value has only while its transaction has not ended, or before it. */
const TRANSIENT = new Set(['NONEXISTENT', 'REMOVED', 'DISCOVERED']);

export function statusKey(agentPrefix: string, key: string): string {
  return agentPrefix + CONFIG_STATUS + key.slice(CONFIG.length);
}

/** The key of the value that a record in the store describes. */
export function describedKey(agentPrefix: string, recordKey: string): string {
  return CONFIG + recordKey.slice(agentPrefix.length + CONFIG_STATUS.length);
}

/**
 * The JSON of ligato's `kvscheduler.ValueStatus`, which has no place for derived values: those that are
 * not configured are in the details, because programs of ligato reject unknown fields.
 * @returns undefined as long as the state of the value is not known
 */
export function statusText(value: ExternalValue, states: ValueStates): string | undefined {
  if (value.invalid) return invalidText(value.key, value.invalid);
  const { state, error, last_operation, details = [], last_valid_state } = states.value;
  if (TRANSIENT.has(state)) return undefined;
  return text({
    key: value.key,
    state,
    error,
    last_operation,
    details: [
      ...details,
      ...(last_valid_state ? [`last valid value: ${last_valid_state}`] : []),
      ...(states.derived_values ?? []).filter(isDeviating).map(derivedText),
      ...value.unknownFields.map((name) => `ignored unknown field: ${name}`),
    ],
  });
}

/** Whether the record can change without a transaction that changes the value. */
export function isWaiting({ value, derived_values = [] }: ValueStates): boolean {
  return [value, ...derived_values].some(
    ({ state }) => state === 'PENDING' || TRANSIENT.has(state),
  );
}

function invalidText(
  key: string,
  { reason, field, isPreviousInUse }: NonNullable<ExternalValue['invalid']>,
): string {
  const effect = isPreviousInUse
    ? 'the last valid value stays in use'
    : 'nothing is configured for this key';
  return text({
    key,
    state: 'INVALID',
    error: `${reason}; ${effect}; correct the value or delete the key`,
    details: field === undefined ? [] : [field],
  });
}

function isDeviating({ state }: ValueState): boolean {
  return state !== 'CONFIGURED' && !TRANSIENT.has(state);
}

function derivedText({ key, state, error, details = [] }: ValueState): string {
  const reasons = [...(error ? [error] : []), ...details].join(', ');
  return reasons === '' ? `${key}: ${state}` : `${key}: ${state}: ${reasons}`;
}

interface Fields {
  readonly key: string;
  readonly state: string;
  readonly error?: string | undefined;
  readonly last_operation?: string | undefined;
  readonly details: readonly string[];
}

/** Without default values, as ligato writes it. */
function text({ key, state, error, last_operation, details }: Fields): string {
  const more = details.length - MAX_DETAILS;
  const listed = details.slice(0, MAX_DETAILS).map(cut);
  if (more > 0) listed.push(`and ${more} more`);
  return JSON.stringify({
    key,
    state,
    ...(error && { error: cut(error) }),
    ...(last_operation && { last_operation }),
    ...(listed.length > 0 && { details: listed }),
  });
}

function cut(long: string): string {
  return long.length > MAX_TEXT ? `${long.slice(0, MAX_TEXT)}…` : long;
}
