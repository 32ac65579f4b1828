/** What VPP is configured with, told without the numbers that it gives out itself. */

import { vppState } from '#test/descriptors/compliance/vpp-state.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';

interface VppState {
  readonly interfaces: readonly {
    readonly sw_if_index: number;
    readonly tag: string;
    readonly interface_name: string;
  }[];
  readonly neighbors: readonly (readonly { readonly flags: number }[])[];
}

/** A static neighbor; the others are learned and come and go with the traffic. */
const STATIC = 1;

/** Two VPPs that are configured alike give equal worlds, however they came to it. */
export async function normalizedVppState(client: BinapiClient): Promise<unknown> {
  const world = (await vppState(client)) as VppState;
  const names = new Map(
    world.interfaces.map(({ sw_if_index, tag, interface_name }) => [
      sw_if_index,
      tag === '' ? interface_name : tag,
    ]),
  );
  const configured = {
    ...world,
    neighbors: world.neighbors.map((list) => list.filter(({ flags }) => flags & STATIC)),
  };
  return normalized(configured, names);
}

function normalized(value: unknown, names: ReadonlyMap<number, string>): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'bigint') return `${value}`;
  if (Array.isArray(value))
    return value
      .map((item) => normalized(item, names))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      // numbered by VPP in the order of creation
      .filter(([field]) => field !== 'interface_name' && field !== 'stats_index')
      .map(([field, item]) => [
        field,
        field.endsWith('sw_if_index') ? (names.get(item) ?? item) : normalized(item, names),
      ]),
  );
}
