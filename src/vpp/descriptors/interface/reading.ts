/** Reads from VPP the interfaces that a read-back is about: all, or those of some values with what these refer to. */
import type { RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import { type VppInterface, vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { VppClient } from '../../binapi/api.ts';
import type { SwInterfaceDetails } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';
import { tagOf } from '../tags.ts';
import { readLenders } from './layer3.ts';

export interface InterfaceReading {
  /** Of the interfaces, as dumps take them; `NONE` is all. */
  readonly indexes: readonly number[];
  readonly details: readonly SwInterfaceDetails[];
  /** Lenders by borrower. */
  readonly lenders: ReadonlyMap<number, number>;
}

export interface RequestedInterfaces extends InterfaceReading {
  /** Number of the values that are read. */
  readonly requested: number;
}

export async function readAllInterfaces(client: VppClient): Promise<InterfaceReading> {
  const indexes = [NONE];
  const [details, lenders] = await Promise.all([detailsOf(client, indexes), readLenders(client)]);
  return { indexes, details, lenders };
}

/**
 * The interfaces of the requested values, with their lenders and parents: what VPP replies does not grow with the
 * number of interfaces.
 * @returns undefined if one is not where the scheduler knows it, or refers to others by more than these
 */
export async function readRequestedInterfaces(
  client: VppClient,
  ctx: RetrieveContext,
  only: ReadonlySet<string>,
  desired: ReadonlyMap<string, VppInterface>,
): Promise<RequestedInterfaces | undefined> {
  const names = new Map<number, string>();
  for (const key of only) {
    const name = vppInterfaceKey.parse(key)?.name;
    if (name === undefined) continue;
    const index = ctx.known<VppInterfaceMetadata>(key)?.swIfIndex;
    if (index === undefined || desired.get(name)?.type === 'VXLAN_TUNNEL') return undefined;
    names.set(index, name);
  }
  const own = [...names.keys()];
  const [details, ...lent] = await Promise.all([
    detailsOf(client, own),
    ...own.map((index) => readLenders(client, index)),
  ]);
  const isWhereKnown = details.every(({ sw_if_index, tag }) => {
    const name = names.get(sw_if_index);
    return name !== undefined && tag === tagOf(name);
  });
  if (!isWhereKnown || details.length < own.length) return undefined;
  const lenders = new Map(lent.flatMap((each) => [...each]));
  const related = new Set([
    ...lenders.values(),
    ...details.map(({ sup_sw_if_index }) => sup_sw_if_index),
  ]);
  for (const index of own) related.delete(index);
  return {
    requested: own.length,
    indexes: [...own, ...related],
    details: [...details, ...(await detailsOf(client, [...related]))],
    lenders,
  };
}

async function detailsOf(
  client: VppClient,
  indexes: readonly number[],
): Promise<readonly SwInterfaceDetails[]> {
  const found = await Promise.all(
    indexes.map((sw_if_index) =>
      client.dump('sw_interface_dump', { sw_if_index, name_filter_valid: false, name_filter: '' }),
    ),
  );
  return found.flat();
}
