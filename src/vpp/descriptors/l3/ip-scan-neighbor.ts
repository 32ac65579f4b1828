import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import {
  IP_SCAN_NEIGHBOR_KEY,
  type IPScanNeighbor,
  ipScanNeighborModel,
} from '#models/vpp/ip-scan-neighbor.ts';
import { AddressFamily } from '../../binapi/enums.gen.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** Aging of one family's neighbors. */
interface Aging {
  readonly af: number;
  /** Seconds after which an entry is probed, and deleted without an answer; 0: never. */
  readonly maxAge: number;
}

/** VPP's default limit, used if the configuration sets none. */
const VPP_MAX_NUMBER = 50_000;
const DEFAULT_STALE_MINUTES = 4;

function ages(value: IPScanNeighbor, family: 'IPV4' | 'IPV6'): boolean {
  return value.mode === family || value.mode === 'BOTH';
}

function maxAge(value: IPScanNeighbor, family: 'IPV4' | 'IPV6'): number {
  if (!ages(value, family)) return 0;
  return 60 * (value.stale_threshold === 0 ? DEFAULT_STALE_MINUTES : value.stale_threshold);
}

function agings(value: IPScanNeighbor): readonly Aging[] {
  return [
    { af: AddressFamily.ADDRESS_IP4, maxAge: maxAge(value, 'IPV4') },
    { af: AddressFamily.ADDRESS_IP6, maxAge: maxAge(value, 'IPV6') },
  ];
}

const off = ipScanNeighborModel.canonical({});

/**
 * VPP no longer has a message that enables the scanning of neighbors. Its purpose, that stale entries
 * are probed and deleted, is now served by the maximum age of an entry: `stale_threshold`. The other
 * fields have no effect.
 */
export function ipScanNeighborDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<IPScanNeighbor, undefined> {
  const configure = ({ af, maxAge: max_age }: Aging): Promise<unknown> =>
    client.request('ip_neighbor_config', {
      af,
      max_number: VPP_MAX_NUMBER,
      max_age,
      recycle: false,
    });
  const apply = (value: IPScanNeighbor, before: IPScanNeighbor): Promise<undefined> =>
    allOrNothing(log, async (undo) => {
      for (const [position, aging] of agings(value).entries()) {
        await configure(aging);
        const old = agings(before)[position];
        if (old !== undefined) undo.add(() => configure(old));
      }
      return undefined;
    });

  return defineDescriptor('vpp-ip-scan-neighbor', ipScanNeighborModel, {
    validate(key, value) {
      const fits = maxAge(value, 'IPV4') <= 0xffff_ffff && maxAge(value, 'IPV6') <= 0xffff_ffff;
      checkField(key, fits, 'stale_threshold', 'too many minutes');
    },
    equivalent: (_key, a, b) =>
      maxAge(a, 'IPV4') === maxAge(b, 'IPV4') && maxAge(a, 'IPV6') === maxAge(b, 'IPV6'),
    create: (_key, value) => apply(value, off),
    update: (_key, before, after) => apply(after, before),
    async delete(_key, value) {
      await apply(off, value);
    },

    /** VPP always has a configuration; one without aging is not reported as a value. */
    async retrieve(correlate) {
      if (!client.has('ip_neighbor_config_get')) return correlate;
      const [v4, v6] = await Promise.all([
        client.request('ip_neighbor_config_get', { af: AddressFamily.ADDRESS_IP4 }),
        client.request('ip_neighbor_config_get', { af: AddressFamily.ADDRESS_IP6 }),
      ]);
      const desired = correlate.find(({ key }) => key === IP_SCAN_NEIGHBOR_KEY);
      if (
        desired !== undefined &&
        maxAge(desired.value, 'IPV4') === v4.max_age &&
        maxAge(desired.value, 'IPV6') === v6.max_age
      ) {
        return [{ ...desired, origin: 'from-NB' as const }];
      }
      if (v4.max_age === 0 && v6.max_age === 0) return [];
      const mode = v4.max_age === 0 ? 'IPV6' : v6.max_age === 0 ? 'IPV4' : 'BOTH';
      const value = ipScanNeighborModel.canonical({
        mode,
        stale_threshold: Math.ceil(Math.max(v4.max_age, v6.max_age) / 60),
      });
      return [{ key: IP_SCAN_NEIGHBOR_KEY, value, origin: 'from-NB' as const }];
    },
  });
}
