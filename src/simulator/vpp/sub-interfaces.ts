import type { SwInterfaceDetails } from '#vpp/binapi/messages.gen.ts';
import { type Interfaces, isEthernet, type SimInterface } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const MAX_VLAN = 4095;
/** Rewrite operations by VPP's numbers: number of popped and of pushed tags. */
const operations: readonly (readonly [popped: number, pushed: number])[] = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 0],
  [2, 0],
  [1, 1],
  [1, 2],
  [2, 1],
  [2, 2],
];

export type TagRewrite = Pick<
  SwInterfaceDetails,
  'vtr_op' | 'vtr_push_dot1q' | 'vtr_tag1' | 'vtr_tag2'
>;

/** VLAN sub-interfaces, and VLAN tag rewriting of all interfaces. */
export class SubInterfaces {
  readonly #interfaces: Interfaces;
  /** By interface index; an entry stays for the next interface with that index. */
  readonly #rewrites = new Map<number, TagRewrite>();

  constructor(interfaces: Interfaces) {
    this.#interfaces = interfaces;
  }

  rewriteOf(iface: SimInterface): TagRewrite | undefined {
    return isEthernet(iface) ? this.#rewrites.get(iface.index) : undefined;
  }

  #create(parent: SimInterface, vlan: number) {
    const sup = parent.sup ?? parent;
    if (vlan === 0 || vlan > MAX_VLAN) return retval.INVALID_VLAN;
    const taken = this.#interfaces.all('sub').some((one) => one.sup === sup && one.vlan === vlan);
    if (taken) return retval.VLAN_ALREADY_EXISTS;
    const iface = this.#interfaces.add({
      kind: 'sub',
      name: `${sup.name}.${vlan}`,
      deviceType: sup.deviceType,
      mac: '00:00:00:00:00:00',
      mtu: [0, 0, 0, 0],
      sup,
      vlan,
      driver: { link: () => false },
    });
    return { sw_if_index: iface.index };
  }

  #rewrite(iface: SimInterface, requested: TagRewrite): number {
    const operation = operations[requested.vtr_op];
    if (!operation) return retval.INVALID_VALUE;
    if (!isEthernet(iface)) return retval.INVALID_INTERFACE;
    const [popped, pushed] = operation;
    if (popped > (iface.sup ? 1 : 0)) {
      // VPP has already reset the tags when it rejects the operation
      const before = this.#rewrites.get(iface.index);
      const bare = { vtr_push_dot1q: 0, vtr_tag1: 0, vtr_tag2: 0 };
      if (before) this.#rewrites.set(iface.index, { ...before, ...bare });
      return retval.INVALID_VLAN_TAG_COUNT;
    }
    if (requested.vtr_op === 0) this.#rewrites.delete(iface.index);
    else
      this.#rewrites.set(iface.index, {
        vtr_op: requested.vtr_op,
        vtr_push_dot1q: pushed > 0 && requested.vtr_push_dot1q !== 0 ? 1 : 0,
        vtr_tag1: pushed > 0 ? requested.vtr_tag1 & 0xffff : 0,
        vtr_tag2: pushed > 1 ? requested.vtr_tag2 & 0xffff : 0,
      });
    return 0;
  }

  handlers(): MessageHandlers {
    const interfaces = this.#interfaces;
    return {
      requests: {
        create_vlan_subif: ({ sw_if_index, vlan_id }) => {
          const parent = interfaces.get(sw_if_index);
          return parent ? this.#create(parent, vlan_id) : retval.INVALID_SW_IF_INDEX;
        },
        delete_subif: ({ sw_if_index }) => {
          const iface = interfaces.get(sw_if_index);
          if (!iface) return retval.INVALID_SW_IF_INDEX;
          if (!iface.sup) return retval.INVALID_SUB_SW_IF_INDEX;
          interfaces.remove(iface);
          return 0;
        },
        l2_interface_vlan_tag_rewrite: ({ sw_if_index, vtr_op, push_dot1q, tag1, tag2 }) => {
          const iface = interfaces.get(sw_if_index);
          if (!iface) return retval.INVALID_SW_IF_INDEX;
          return this.#rewrite(iface, {
            vtr_op,
            vtr_push_dot1q: push_dot1q,
            vtr_tag1: tag1,
            vtr_tag2: tag2,
          });
        },
      },
      snapshot: () => ({
        subInterfaces: interfaces
          .all('sub')
          .map(({ index, sup, vlan }) => {
            const { vtr_op, vtr_push_dot1q, vtr_tag1, vtr_tag2 } = this.#rewrites.get(index) ?? {};
            const rewrite =
              vtr_op === undefined ? [] : [vtr_op, vtr_push_dot1q, vtr_tag1, vtr_tag2];
            const parent = interfaces.nameOf(sup!.index);
            return [`${interfaces.nameOf(index)}: ${vlan} of ${parent}`, ...rewrite].join(' ');
          })
          .sort(),
      }),
    };
  }
}
