import { isDeepStrictEqual } from 'node:util';
import { checkField } from '#kvscheduler/api/check-field.ts';
import type { Dependency } from '#kvscheduler/api/descriptor.ts';
import { interfaceUpKey } from '#models/vpp/derived.ts';
import type { SubInterface } from '#models/vpp/interface.gen.ts';
import { type VppInterface, vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { IfType, SubIfFlags } from '../../../binapi/enums.gen.ts';
import type { SwInterfaceDetails } from '../../../binapi/messages.gen.ts';
import { ignoreNotFound } from '../../ignored-retvals.ts';
import type { InterfaceTypeHandler } from './handler.ts';

type Rewrite = SubInterface['tag_rw_option'];

const MAX_VLAN = 4095;
const MAX_TAG = 0xffff;

/** In the order of VPP's numbers. */
const rewrites: readonly Rewrite[] = [
  'DISABLED',
  'PUSH1',
  'PUSH2',
  'POP1',
  'POP2',
  'TRANSLATE11',
  'TRANSLATE12',
  'TRANSLATE21',
  'TRANSLATE22',
];

const pushedTags: Readonly<Partial<Record<Rewrite, number>>> = {
  PUSH1: 1,
  PUSH2: 2,
  TRANSLATE11: 1,
  TRANSLATE12: 2,
};

/** Packets of the sub-interface have one tag: rewrites that remove two are impossible. */
const impossible: ReadonlySet<Rewrite> = new Set(['POP2', 'TRANSLATE21', 'TRANSLATE22']);

function parentKey(value: VppInterface): string {
  return vppInterfaceKey.build({ name: value.sub?.parent_name ?? '' });
}

function identity(parent: string, vlan: number): string {
  return `subif/${parent}/${vlan}`;
}

/** The significant fields of the rewrite: only a pushed tag has a value and a type. */
function rewriting(subInterface: SubInterface | undefined): Partial<SubInterface> {
  const { tag_rw_option = 'DISABLED', push_dot1q = false, tag1 = 0, tag2 = 0 } = subInterface ?? {};
  const pushed = pushedTags[tag_rw_option] ?? 0;
  return {
    tag_rw_option,
    ...(pushed > 0 && { push_dot1q, tag1 }),
    ...(pushed > 1 && { tag2 }),
  };
}

function settings(value: VppInterface): object {
  const { sub } = value;
  return { parent: sub?.parent_name, vlan: sub?.sub_id, ...rewriting(sub) };
}

/** Exactly one tag: the only form that the agent creates. */
function isVlan({ type, sub_if_flags }: SwInterfaceDetails): boolean {
  const { SUB_IF_API_FLAG_ONE_TAG: one, SUB_IF_API_FLAG_EXACT_MATCH: exact } = SubIfFlags;
  return type === IfType.IF_API_TYPE_SUB && sub_if_flags === (one | exact);
}

/**
 * A VLAN of another interface. It has the MAC, the link and the queues of its parent, and can be up
 * only while its parent is up.
 */
export const sub: InterfaceTypeHandler = {
  type: 'SUB_INTERFACE',
  mac: 'never',
  mtu: 'inherited',
  startsUp: false,
  downOnDelete: false,
  hasUniqueIdentity: true,

  validate(key, { name, sub: link, phys_address, rx_modes, rx_placements }) {
    checkField(key, link !== undefined, 'sub', 'a sub-interface needs a parent');
    const parent = link?.parent_name ?? '';
    checkField(
      key,
      parent !== '' && parent !== name,
      'sub.parent_name',
      'must name another interface',
    );
    const vlan = link?.sub_id ?? 0;
    checkField(
      key,
      vlan > 0 && vlan <= MAX_VLAN,
      'sub.sub_id',
      `must be a VLAN from 1 to ${MAX_VLAN}`,
    );
    const possible = !impossible.has(link?.tag_rw_option ?? 'DISABLED');
    checkField(key, possible, 'sub.tag_rw_option', 'requires packets with two tags');
    for (const field of ['tag1', 'tag2'] as const) {
      checkField(key, (link?.[field] ?? 0) <= MAX_TAG, `sub.${field}`, `above ${MAX_TAG}`);
    }
    checkField(
      key,
      phys_address === '',
      'phys_address',
      'a sub-interface has the MAC of its parent',
    );
    const queues = rx_modes.length + rx_placements.length;
    checkField(key, queues === 0, 'rx_modes', 'a sub-interface has no queues of its own');
  },

  dependencies(value): readonly Dependency[] {
    const exists = { label: 'parent-interface-exists', key: parentKey(value) };
    if (!value.enabled) return [exists];
    const iface = value.sub?.parent_name ?? '';
    return [exists, { label: 'parent-interface-is-up', key: interfaceUpKey.build({ iface }) }];
  },

  settings,
  identity: ({ sub: link }) => link && identity(link.parent_name, link.sub_id),

  async create(client, value, ctx) {
    const parent = ctx.metadata<VppInterfaceMetadata>(parentKey(value));
    const { sw_if_index } = await client.request('create_vlan_subif', {
      sw_if_index: parent.swIfIndex,
      vlan_id: value.sub?.sub_id ?? 0,
    });
    return { swIfIndex: sw_if_index };
  },

  configure(client, { sub: link }, swIfIndex) {
    if (link === undefined || link.tag_rw_option === 'DISABLED') return [];
    return [
      client.request('l2_interface_vlan_tag_rewrite', {
        sw_if_index: swIfIndex,
        vtr_op: rewrites.indexOf(link.tag_rw_option),
        push_dot1q: link.push_dot1q ? 1 : 0,
        tag1: link.tag1,
        tag2: link.tag2,
      }),
    ];
  },

  async delete(client, { sub: link }, { swIfIndex }) {
    // VPP keeps the rewrite under the index, and the next interface with that index would get it
    if (link !== undefined && link.tag_rw_option !== 'DISABLED') {
      const off = { sw_if_index: swIfIndex, vtr_op: 0, push_dot1q: 0, tag1: 0, tag2: 0 };
      await ignoreNotFound(client.request('l2_interface_vlan_tag_rewrite', off));
    }
    await client.request('delete_subif', { sw_if_index: swIfIndex });
  },

  async dump(_client, { details, nameOf }) {
    return details.filter(isVlan).map((each) => {
      const parent = nameOf(each.sup_sw_if_index) ?? '';
      return {
        swIfIndex: each.sw_if_index,
        identity: identity(parent, each.sub_id),
        fields: {
          sub: {
            parent_name: parent,
            sub_id: each.sub_id,
            tag_rw_option: rewrites[each.vtr_op] ?? 'DISABLED',
            push_dot1q: each.vtr_push_dot1q !== 0,
            tag1: each.vtr_tag1,
            tag2: each.vtr_tag2,
          },
        },
      };
    });
  },

  adopt({ fields }, desired) {
    const found = fields.sub;
    if (found === undefined || desired.sub === undefined) return fields;
    // insignificant fields are as desired
    if (!isDeepStrictEqual(rewriting(found), rewriting(desired.sub))) return fields;
    const { parent_name, sub_id } = found;
    return { sub: { ...desired.sub, parent_name, sub_id } };
  },
};
