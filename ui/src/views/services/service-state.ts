import type { ServiceSummary } from '#documents/services.ts';
import type { ValueState } from '#documents/value-states.ts';
import { addressText, kindText } from './address-text.ts';

/** From the worst. */
const faults = ['INVALID', 'FAILED', 'MISSING', 'UNIMPLEMENTED', 'RETRYING', 'PENDING'];

/** @returns undefined without values */
export function worstState(values: readonly ValueState[]): string | undefined {
  const states = new Set(values.map(({ state }) => state));
  return faults.find((state) => states.has(state)) ?? values[0]?.state;
}

export function hasProblem(service: ServiceSummary): boolean {
  const { problems, values } = service;
  return problems.length > 0 || faults.includes(worstState(values) ?? '');
}

/** Whether each word of the search is in the name, an address, a kind or a backend of the service. */
export function matchesSearch(service: ServiceSummary, search: string): boolean {
  const text = [
    service.name,
    ...service.addresses.flatMap((address) => [
      addressText(address),
      kindText(address.kind),
      address.portName,
      ...address.backends,
    ]),
  ]
    .join(' ')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
