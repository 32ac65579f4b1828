import type { Logger } from '#infra/log/log.ts';
import { allOrNothing } from '#infra/undo/undo.ts';
import type { Dependency, KeyedValue, KvDescriptor, OperationContext } from '#kvscheduler/api.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type IPRedirect, ipRedirectKey, ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import type { VppInterfaceMetadata } from '#nodeview/metadata.ts';
import { fromUnion } from '../binapi/addresses.ts';
import type { VppClient } from '../binapi/api.ts';
import { AddressFamily } from '../binapi/enums.gen.ts';
import type { PuntRedirectV2 } from '../binapi/messages.gen.ts';
import { require } from './invalid.ts';
import { none } from './limits.ts';
import { interfaceNames } from './names.ts';
import { pathTo } from './route-path.ts';

type Family = 'IPV4' | 'IPV6';

const families: readonly Family[] = ['IPV4', 'IPV6'];

const numbers: Readonly<Record<Family, number>> = {
  IPV4: AddressFamily.ADDRESS_IP4,
  IPV6: AddressFamily.ADDRESS_IP6,
};

/** A next hop is of one family, and says so where all are redirected. */
function familiesOf({ l3_protocol, next_hop }: IPRedirect): readonly Family[] {
  return families.filter((family) => {
    if (l3_protocol !== 'ALL' && l3_protocol !== family) return false;
    return next_hop === '' || next_hop.includes(':') === (family === 'IPV6');
  });
}

/** One redirect, as VPP has it. */
interface Found {
  readonly family: Family;
  /** Empty for any. */
  readonly rx: string;
  readonly tx: string;
  readonly hop: string;
}

function identity({ family, rx, tx, hop }: Found): string {
  return `${family} ${rx} ${tx} ${hop}`;
}

/**
 * Packets that VPP would punt to itself are sent to an interface. VPP has one redirect a family and
 * receiving interface. It counts requests to add and to delete, whether or not they change
 * anything, and by that count switches redirecting on and off: so it is asked only for what it does
 * not have yet, or has.
 */
export function ipRedirectDescriptor(
  client: VppClient,
  log: Logger,
): KvDescriptor<IPRedirect, undefined> {
  const indexOf = (name: string, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;

  const set = async (
    value: IPRedirect,
    family: Family,
    isOn: boolean,
    ctx: OperationContext,
  ): Promise<void> => {
    const rx = value.rx_interface === '' ? none : indexOf(value.rx_interface, ctx);
    const af = numbers[family];
    const request = (is_add: boolean, paths: PuntRedirectV2['paths']): Promise<unknown> =>
      client.request('add_del_ip_punt_redirect_v2', {
        is_add,
        punt: { rx_sw_if_index: rx, af, paths },
      });
    const present = await client.dump('ip_punt_redirect_v2_dump', { sw_if_index: rx, af });
    // asked for any, VPP tells all
    if (present.some(({ punt }) => punt.rx_sw_if_index === rx)) await request(false, []);
    if (!isOn) return;
    const tx = indexOf(value.tx_interface, ctx);
    await request(true, [pathTo(family === 'IPV6', value.next_hop, tx)]);
  };

  return {
    name: 'vpp-punt-ipredirect',
    typeName: ipRedirectModel.typeName,
    keyPrefixes: [ipRedirectModel.keyPrefix],
    nbKeyPrefix: ipRedirectModel.keyPrefix,
    label: (key) => key.slice(ipRedirectModel.keyPrefix.length),
    toJson: (value) => ipRedirectModel.toJson(value),
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      require(key, value.l3_protocol !== 'UNDEFINED_L3', 'l3_protocol', 'missing');
      require(key, value.tx_interface !== '', 'tx_interface', 'missing');
      const fits = familiesOf(value).length > 0;
      require(key, fits, 'next_hop', 'is not of the family of l3_protocol');
    },
    dependencies: (_key, value) => dependencies(value),
    claims: (_key, value) =>
      familiesOf(value).map((family) => `punt-redirect/${family}/${value.rx_interface || 'any'}`),
    create: (_key, value, ctx) =>
      allOrNothing(log, async (undo) => {
        for (const family of familiesOf(value)) {
          await set(value, family, true, ctx);
          undo.add(() => set(value, family, false, ctx));
        }
        return undefined;
      }),
    async delete(_key, value, _metadata, ctx) {
      for (const family of familiesOf(value)) await set(value, family, false, ctx);
    },

    async retrieve(correlate, ctx) {
      if (!client.has('ip_punt_redirect_v2_dump')) return [];
      const names = interfaceNames(ctx);
      const dumps = await Promise.all(
        families.map(async (family) => {
          const fields = { sw_if_index: none, af: numbers[family] };
          const found = await client.dump('ip_punt_redirect_v2_dump', fields);
          return found.flatMap(({ punt }) => readBack(punt, family, names));
        }),
      );
      return attribute(dumps.flat(), correlate).map((each) => ({
        ...each,
        origin: 'from-NB' as const,
      }));
    },
  };
}

function dependencies({ tx_interface: tx, rx_interface: rx }: IPRedirect): readonly Dependency[] {
  const sending = { label: 'sending-interface-exists', key: vppInterfaceKey.build({ name: tx }) };
  if (rx === '' || rx === tx) return [sending];
  const key = vppInterfaceKey.build({ name: rx });
  return [sending, { label: 'receiving-interface-exists', key }];
}

function readBack(
  punt: PuntRedirectV2,
  family: Family,
  names: ReadonlyMap<number, string>,
): readonly Found[] {
  const [path] = punt.paths;
  const tx = names.get(path?.sw_if_index ?? none);
  const rx = punt.rx_sw_if_index === none ? '' : names.get(punt.rx_sw_if_index);
  if (path === undefined || tx === undefined || rx === undefined) return [];
  const hop = fromUnion(punt.af, path.nh.address);
  return [{ family, rx, tx, hop: hop === '0.0.0.0' || hop === '::' ? '' : hop }];
}

/** Which value each redirect belongs to: to one that is all there, or else it may be half of ALL. */
function attribute(
  found: readonly Found[],
  correlate: readonly KeyedValue<IPRedirect>[],
): readonly KeyedValue<IPRedirect>[] {
  const left = new Map(found.map((each) => [identity(each), each]));
  const values: KeyedValue<IPRedirect>[] = [];
  const keys = new Set<string>();
  const add = (key: string, value: IPRedirect): void => {
    keys.add(key);
    values.push({ key, value });
  };
  const partsOf = (value: IPRedirect): readonly Found[] => {
    const { rx_interface: rx, tx_interface: tx, next_hop: hop } = value;
    return familiesOf(value).map((family) => ({ family, rx, tx, hop }));
  };
  // both families before one of them
  const inOrder = correlate.toSorted((a, b) => partsOf(b.value).length - partsOf(a.value).length);
  for (const { key, value } of inOrder) {
    const parts = partsOf(value).map(identity);
    if (!parts.every((part) => left.has(part))) continue;
    for (const part of parts) left.delete(part);
    add(key, value);
  }
  for (const { key, value } of inOrder) {
    const half = partsOf(value).find((part) => left.has(identity(part)));
    if (half === undefined || keys.has(key)) continue;
    left.delete(identity(half));
    add(key, ipRedirectModel.canonical({ ...value, l3_protocol: half.family }));
  }
  for (const { family, rx, tx, hop } of left.values()) {
    const value = ipRedirectModel.canonical({
      l3_protocol: family,
      rx_interface: rx,
      tx_interface: tx,
      next_hop: hop,
    });
    const key = ipRedirectModel.key(value);
    // the key says nothing of the receiving interface, of which VPP may have several
    const isFree = !keys.has(key);
    add(isFree ? key : ipRedirectKey.build({ l3: family, tx: `${tx} from ${rx || 'any'}` }), value);
  }
  return values;
}
