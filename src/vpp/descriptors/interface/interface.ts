import { isDeepStrictEqual } from 'node:util';
import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { isLinkLocalIpv6, parseCidr } from '#models/ip.ts';
import { addressSource } from '#models/vpp/derived.ts';
import type { InterfaceType } from '#models/vpp/interface.gen.ts';
import { type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { toMac } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { IfStatusFlags } from '../../binapi/enums.gen.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';
import { derivedValues } from './derived-values.ts';
import { setMtu, vlansOf } from './mtu.ts';
import { retrieveInterfaces } from './retrieve.ts';
import { dpdk } from './types/dpdk.ts';
import type { CreatedInterface, InterfaceTypeHandler } from './types/handler.ts';
import { handlerOf } from './types/registry.ts';

type Metadata = VppInterfaceMetadata;

export function interfaceDescriptor(
  options: VppDescriptorOptions,
): KvDescriptor<VppInterface, Metadata> {
  const { client, log, aclBindings, tapLinks } = options;
  return defineDescriptor('vpp-interface', vppInterfaceModel, {
    retrieveDependencies: ['linux-interface'],
    validate,
    equivalent,
    needsRecreate: (_key, before, after) => needsRecreate(before, after),
    dependencies: (_key, value) => handlerOf(value.type)?.dependencies(value) ?? [],
    claims: (_key, value) => {
      const kind = handlerOf(value.type);
      const identity = kind?.identity(value);
      return identity !== undefined && kind?.hasUniqueIdentity === true ? [identity] : [];
    },
    metadataFields: ({ swIfIndex }) => ({ swIfIndex: [String(swIfIndex)] }),
    derived: (_key, value) => derivedValues(value),
    // a NIC that is not there will not come by asking again

    /**
     * Sends the create message of the type first, then tag, MAC, MTU and state together: the
     * connection keeps their order. If one fails, the interface is deleted again. An interface with
     * ACLs goes up when it has them: if VPP refuses one, it does not come.
     */
    create: (_key, value, ctx) =>
      allOrNothing(log, async (undo) => {
        const kind = requireHandler(value);
        const made = await kind.create(client, value, ctx, options);
        const metadata = metadataOf(value, made);
        undo.add(() => kind.delete(client, value, metadata, tapLinks));
        const bound = aclBindings.setAll(made.swIfIndex, value.name);
        await allSettled(configureCreated(client, kind, value, made.swIfIndex, bound));
        return metadata;
      }),

    async update(_key, before, after, metadata) {
      const kind = requireHandler(after);
      const sw_if_index = metadata.swIfIndex;
      // read before all requests, because the connection keeps their order
      const vlans =
        kind.mtu === 'hardware' && after.mtu !== before.mtu && after.mtu !== 0
          ? await vlansOf(client, sw_if_index)
          : [];
      const requests: Promise<unknown>[] = [];
      if (after.phys_address !== '' && after.phys_address !== before.phys_address) {
        requests.push(setMac(client, sw_if_index, after.phys_address));
      }
      if (after.mtu !== before.mtu) {
        requests.push(setMtu(client, kind, sw_if_index, after.mtu));
      }
      // VPP sets a new frame size as the MTU of the VLANs too
      requests.push(
        ...vlans.map((vlan) =>
          client.request('sw_interface_set_mtu', { sw_if_index: vlan.sw_if_index, mtu: vlan.mtu }),
        ),
      );
      if (after.enabled !== before.enabled) {
        // an agent that crashed while it created the interface may have left it without ACLs
        const bound = after.enabled ? aclBindings.setAll(sw_if_index, after.name) : undefined;
        requests.push(setState(client, sw_if_index, after.enabled, bound));
      }
      // the first update of an unmanaged NIC makes it managed
      if (kind === dpdk) requests.push(tag(client, sw_if_index, after.name));
      await allSettled(requests);
      return metadataOf(after, metadata);
    },

    async delete(_key, value, metadata) {
      const kind = requireHandler(value);
      const { swIfIndex } = metadata;
      const down = kind.downOnDelete ? [ignoreNotFound(setState(client, swIfIndex, false))] : [];
      // VPP clears the tag of an interface that it deletes. Cleared before, it would leave an
      // unrecognizable interface if the agent crashed in between.
      await allSettled([...down, ignoreNotFound(kind.delete(client, value, metadata, tapLinks))]);
    },

    retrieve: (correlate, ctx) => retrieveInterfaces(options, correlate, ctx),
  });
}

function requireHandler(value: VppInterface): InterfaceTypeHandler {
  const kind = handlerOf(value.type);
  // validate rejects other types
  if (kind === undefined) throw new TypeError(`no kind for ${value.type}`);
  return kind;
}

function metadataOf(
  value: VppInterface,
  { swIfIndex, hostIfName, hostNamespace }: CreatedInterface,
): Metadata {
  return {
    swIfIndex,
    type: value.type,
    ...(hostIfName !== undefined && { hostIfName }),
    ...(hostNamespace !== undefined && { hostNamespace }),
  };
}

/** Sets what the create message has not set, or not reliably. */
function configureCreated(
  client: VppClient,
  kind: InterfaceTypeHandler,
  value: VppInterface,
  sw_if_index: number,
  bound: Promise<void> | undefined,
): Promise<unknown>[] {
  // also for types whose create message contains the tag: VPP may have appended bytes to it
  const requests: Promise<unknown>[] = [tag(client, sw_if_index, value.name)];
  if (kind.mac === 'message' && value.phys_address !== '') {
    requests.push(setMac(client, sw_if_index, value.phys_address));
  }
  if (value.mtu !== 0) requests.push(setMtu(client, kind, sw_if_index, value.mtu));
  requests.push(...(kind.configure?.(client, value, sw_if_index) ?? []));
  if (value.enabled !== kind.startsUp) {
    requests.push(setState(client, sw_if_index, value.enabled, bound));
  }
  if (bound !== undefined) requests.push(bound);
  return requests;
}

function tag(client: VppClient, sw_if_index: number, name: string): Promise<unknown> {
  return client.request('sw_interface_tag_add_del', {
    is_add: true,
    sw_if_index,
    tag: tagOf(name),
  });
}

function setMac(client: VppClient, sw_if_index: number, mac: string): Promise<unknown> {
  return client.request('sw_interface_set_mac_address', { sw_if_index, mac_address: toMac(mac) });
}

/** @param after when it is fulfilled; undefined: at once */
function setState(
  client: VppClient,
  sw_if_index: number,
  up: boolean,
  after?: Promise<void>,
): Promise<unknown> {
  const flags = up ? IfStatusFlags.IF_STATUS_API_FLAG_ADMIN_UP : 0;
  const set = () => client.request('sw_interface_set_flags', { sw_if_index, flags });
  return after === undefined ? set() : after.then(set);
}

/** The link field of each type; loopbacks and NICs have none. */
const linkFields: readonly (readonly [keyof VppInterface, InterfaceType])[] = [
  ['sub', 'SUB_INTERFACE'],
  ['memif', 'MEMIF'],
  ['afpacket', 'AF_PACKET'],
  ['tap', 'TAP'],
  ['vxlan', 'VXLAN_TUNNEL'],
  ['wireguard', 'WIREGUARD_TUNNEL'],
  ['vmx_net3', 'VMXNET3_INTERFACE'],
  ['bond', 'BOND_INTERFACE'],
];

const MAX_MTU = 9216;

function validate(key: string, value: VppInterface): void {
  checkField(key, value.name !== '', 'name', 'missing');
  const kind = handlerOf(value.type);
  checkField(key, kind !== undefined, `type`, `${value.type} is not supported`);
  for (const [field, type] of linkFields) {
    const fits = value[field] === undefined || value.type === type;
    checkField(key, fits, field, `is not valid for type ${value.type}`);
  }
  checkField(key, value.mtu <= MAX_MTU, `mtu`, `above ${MAX_MTU}`);
  const numbered = value.ip_addresses.length > 0;
  const borrows = value.unnumbered !== undefined;
  checkField(key, !numbered || !borrows, 'unnumbered', 'cannot be combined with ip_addresses');
  const lender = value.unnumbered?.interface_with_ip;
  checkField(
    key,
    lender !== '' && lender !== value.name,
    'unnumbered',
    'must name another interface',
  );
  const allocated = value.ip_addresses.some((address) => addressSource(address) !== 'static');
  checkField(
    key,
    !allocated,
    'ip_addresses',
    'references to allocated addresses are not supported',
  );
  const isNetwork = value.ip_addresses.every((address) => !address.endsWith('/0'));
  checkField(key, isNetwork, 'ip_addresses', 'a prefix length of 0 is not valid');
  const isReported = value.ip_addresses.every((address) => !isLinkLocal(address));
  checkField(
    key,
    isReported,
    'ip_addresses',
    'IPv6 link-local addresses are not supported: VPP has its own, and does not delete another one',
  );
  const leases = !value.set_dhcp_client || !borrows;
  checkField(key, leases, 'unnumbered', 'cannot be combined with set_dhcp_client');
  checkField(key, value.ip6_nd === undefined, 'ip6_nd', 'not supported');
  const queues = new Set(value.rx_placements.map(({ queue }) => queue));
  const once = queues.size === value.rx_placements.length;
  checkField(key, once, 'rx_placements', 'a queue is listed twice');
  const unknown = value.rx_modes.some(({ mode }) => mode === 'UNKNOWN');
  checkField(key, !unknown, 'rx_modes', 'a mode is missing');
  const modes = value.rx_modes.map((each) => (each.default_mode ? 'default' : each.queue));
  const isOnce = new Set(modes).size === modes.length;
  checkField(key, isOnce, 'rx_modes', 'a queue, or the default mode, is listed twice');
  kind?.validate(key, value);
}

function isLinkLocal(address: string): boolean {
  const cidr = parseCidr(address);
  return cidr !== undefined && isLinkLocalIpv6(cidr.address);
}

/**
 * An empty MAC matches any. Everything that is a derived value is compared as such, and not here: addresses,
 * table, DHCP client, queues. One that is pending makes no difference then.
 */
function equivalent(_key: string, a: VppInterface, b: VppInterface): boolean {
  return (
    a.enabled === b.enabled &&
    (a.phys_address === b.phys_address || b.phys_address === '') &&
    (a.mtu === b.mtu || (b.mtu === 0 && handlerOf(b.type)?.mtu === 'hardware')) &&
    !needsRecreate(a, b)
  );
}

function needsRecreate(before: VppInterface, after: VppInterface): boolean {
  if (before.type !== after.type) return true;
  const kind = requireHandler(after);
  return !isDeepStrictEqual(kind.settings(before), kind.settings(after));
}
