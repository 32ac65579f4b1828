import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type {
  Dependency,
  KeyedValue,
  KvDescriptor,
  OperationContext,
} from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type IPRedirect, ipRedirectKey, ipRedirectModel } from '#models/vpp/ip-redirect.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromUnion } from '../../binapi/addresses.ts';
import type { PuntRedirectV2 } from '../../binapi/messages.gen.ts';
import {
  type AddressFamilyName,
  addressFamilies,
  attributeByFamily,
  familiesOf,
  familyNumbers,
} from '../address-family.ts';
import { isAny, pathTo } from '../l3/route-path.ts';
import { NONE } from '../limits.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

/** The families that are redirected: the next hop restricts them to its own. */
function redirected({ l3_protocol, next_hop }: IPRedirect): readonly AddressFamilyName[] {
  return familiesOf(l3_protocol).filter(
    (family) => next_hop === '' || next_hop.includes(':') === (family === 'IPV6'),
  );
}

/** One redirect in VPP. */
interface Found {
  readonly family: AddressFamilyName;
  /** Empty: any. */
  readonly rx: string;
  readonly tx: string;
  readonly hop: string;
}

function identity({ family, rx, tx, hop }: Found): string {
  return `${family} ${rx} ${tx} ${hop}`;
}

/**
 * Packets that VPP would punt are sent to an interface. VPP has one redirect per family and receiving
 * interface. It counts add and delete requests, even without effect, and enables redirecting by that
 * count: so only redirects that do not exist are added, and only existing ones are deleted.
 */
export function ipRedirectDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<IPRedirect, undefined> {
  const indexOf = (name: string, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name })).swIfIndex;

  const set = async (
    value: IPRedirect,
    family: AddressFamilyName,
    isOn: boolean,
    ctx: OperationContext,
  ): Promise<void> => {
    const rx = value.rx_interface === '' ? NONE : indexOf(value.rx_interface, ctx);
    const af = familyNumbers[family];
    const request = (is_add: boolean, paths: PuntRedirectV2['paths']): Promise<unknown> =>
      client.request('add_del_ip_punt_redirect_v2', {
        is_add,
        punt: { rx_sw_if_index: rx, af, paths },
      });
    const present = await client.dump('ip_punt_redirect_v2_dump', { sw_if_index: rx, af });
    // for any interface, VPP returns all redirects
    if (present.some(({ punt }) => punt.rx_sw_if_index === rx)) await request(false, []);
    if (!isOn) return;
    const tx = indexOf(value.tx_interface, ctx);
    await request(true, [pathTo(family === 'IPV6', value.next_hop, tx)]);
  };

  return defineDescriptor('vpp-punt-ipredirect', ipRedirectModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, value) {
      checkField(key, value.l3_protocol !== 'UNDEFINED_L3', 'l3_protocol', 'missing');
      checkField(key, value.tx_interface !== '', 'tx_interface', 'missing');
      const fits = redirected(value).length > 0;
      checkField(key, fits, 'next_hop', 'is not of the family of l3_protocol');
    },
    dependencies: (_key, value) => dependencies(value),
    claims: (_key, value) =>
      redirected(value).map((family) => `punt-redirect/${family}/${value.rx_interface || 'any'}`),
    create: (_key, value, ctx) =>
      allOrNothing(log, async (undo) => {
        for (const family of redirected(value)) {
          await set(value, family, true, ctx);
          undo.add(() => set(value, family, false, ctx));
        }
        return undefined;
      }),
    async delete(_key, value, _metadata, ctx) {
      for (const family of redirected(value)) await set(value, family, false, ctx);
    },

    async retrieve(correlate, ctx) {
      if (!client.has('ip_punt_redirect_v2_dump')) return [];
      const names = interfaceNames(ctx);
      const dumps = await Promise.all(
        addressFamilies.map(async (family) => {
          const fields = { sw_if_index: NONE, af: familyNumbers[family] };
          const found = await client.dump('ip_punt_redirect_v2_dump', fields);
          return found.flatMap(({ punt }) => readBack(punt, family, names));
        }),
      );
      const found = new Map(dumps.flat().map((each) => [identity(each), each]));
      const { values, left } = attributeByFamily(
        found.keys(),
        correlate,
        partsOf,
        (value, l3_protocol) => ipRedirectModel.canonical({ ...value, l3_protocol }),
      );
      const keys = new Set(values.map(({ key }) => key));
      const others = [...left].flatMap((part) => unmatched(found.get(part), keys));
      return [...values, ...others].map((each) => ({ ...each, origin: 'from-NB' as const }));
    },
  });
}

function dependencies({ tx_interface: tx, rx_interface: rx }: IPRedirect): readonly Dependency[] {
  const sending = { label: 'sending-interface-exists', key: vppInterfaceKey.build({ name: tx }) };
  if (rx === '' || rx === tx) return [sending];
  const key = vppInterfaceKey.build({ name: rx });
  return [sending, { label: 'receiving-interface-exists', key }];
}

function readBack(
  punt: PuntRedirectV2,
  family: AddressFamilyName,
  names: ReadonlyMap<number, string>,
): readonly Found[] {
  const [path] = punt.paths;
  const tx = names.get(path?.sw_if_index ?? NONE);
  const rx = punt.rx_sw_if_index === NONE ? '' : names.get(punt.rx_sw_if_index);
  if (path === undefined || tx === undefined || rx === undefined) return [];
  const hop = fromUnion(punt.af, path.nh.address);
  return [{ family, rx, tx, hop: isAny(hop) ? '' : hop }];
}

function partsOf(value: IPRedirect): ReadonlyMap<AddressFamilyName, string> {
  const { rx_interface: rx, tx_interface: tx, next_hop } = value;
  const hop = isAny(next_hop) ? '' : next_hop;
  return new Map(redirected(value).map((family) => [family, identity({ family, rx, tx, hop })]));
}

/** A redirect that belongs to no value. @param keys already used */
function unmatched(found: Found | undefined, keys: Set<string>): readonly KeyedValue<IPRedirect>[] {
  if (found === undefined) return [];
  const { family, rx, tx, hop } = found;
  const value = ipRedirectModel.canonical({
    l3_protocol: family,
    rx_interface: rx,
    tx_interface: tx,
    next_hop: hop,
  });
  const plain = ipRedirectModel.key(value);
  // the key does not contain the receiving interface, of which VPP may have several
  const key = keys.has(plain)
    ? ipRedirectKey.build({ l3: family, tx: `${tx} from ${rx || 'any'}` })
    : plain;
  keys.add(key);
  return [{ key, value }];
}
