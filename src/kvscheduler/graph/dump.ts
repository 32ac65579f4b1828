/** The values of one descriptor: desired, known, or read from the southbound. */

import type { Slices } from '#infra/clock/slices.ts';
import type { AnyDescriptor, Origin } from '../api/descriptor.ts';
import { NoRetrieveError, UnknownDescriptorError } from '../api/errors.ts';
import { originNumber, RecordedValue } from '../history/record.ts';
import type { Registry } from './descriptor-registry.ts';
import { type Graph, nodesStepwise } from './graph.ts';
import type { Node } from './node.ts';

/** `SB`: read now; `NB`: desired; `cached`: actual, as the scheduler knows it. */
export type View = 'SB' | 'NB' | 'cached';

export type DumpSelector = { readonly descriptor: string } | { readonly keyPrefix: string };

export interface DumpedValue {
  readonly Key: string;
  readonly Value: RecordedValue;
  /** A number of `originNumber`. */
  readonly Origin: number;
  readonly Metadata: unknown;
  /** In the view SB: the `details` of the retrieved value. */
  readonly details?: unknown;
}

/** @throws UnknownDescriptorError */
export function selectDescriptor(registry: Registry, selector: DumpSelector): AnyDescriptor {
  if ('descriptor' in selector) {
    const named = registry.named(selector.descriptor);
    if (named) return named;
    throw new UnknownDescriptorError('descriptor is not registered', {
      where: selector.descriptor,
    });
  }
  const { keyPrefix } = selector;
  const found = registry.descriptors.find(({ nbKeyPrefix }) => nbKeyPrefix === keyPrefix);
  if (found) return found;
  throw new UnknownDescriptorError('no descriptor found matching the key prefix', {
    where: keyPrefix,
  });
}

export async function dumpKnown(
  graph: Graph,
  descriptor: AnyDescriptor,
  view: 'NB' | 'cached',
  slices: Slices,
): Promise<DumpedValue[]> {
  const values: DumpedValue[] = [];
  for (const node of nodesStepwise(graph, descriptor)) {
    if (slices.due()) await slices.turn();
    if (node.base) continue;
    const value = view === 'NB' ? (node.rejected?.value ?? node.desired) : node.actual;
    if (value === undefined) continue;
    values.push({
      Key: node.key,
      Value: new RecordedValue(descriptor, value),
      Origin: originNumber[originOf(node)],
      Metadata: view === 'NB' ? undefined : node.metadata,
    });
  }
  return values;
}

export interface FoundValue {
  readonly key: string;
  readonly value: object;
  readonly metadata?: unknown;
  readonly details?: unknown;
  readonly origin?: Origin | undefined;
}

/** @throws NoRetrieveError */
export function assertReadable({ name, retrieve }: AnyDescriptor): void {
  if (retrieve) return;
  throw new NoRetrieveError('descriptor does not support Retrieve operation', { where: name });
}

export async function dumpFound(
  { graph, slices }: { readonly graph: Graph; readonly slices: Slices },
  descriptor: AnyDescriptor,
  found: readonly FoundValue[],
): Promise<DumpedValue[]> {
  const values: DumpedValue[] = [];
  for (const { key, value, metadata, details, origin } of found) {
    if (slices.due()) await slices.turn();
    const node = graph.get(key);
    const known = node ? originOf(node) : 'from-SB';
    values.push({
      Key: key,
      Value: new RecordedValue(descriptor, value),
      Origin: originNumber[origin && origin !== 'unknown' ? origin : known],
      Metadata: metadata,
      ...(details !== undefined && { details }),
    });
  }
  return values;
}

function originOf({ unmanaged }: Node): Origin {
  return unmanaged ? 'from-SB' : 'from-NB';
}
