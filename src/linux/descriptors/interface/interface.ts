import { isDeepStrictEqual } from 'node:util';
import { allOrNothing, allSettled } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KeyedValue, KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import {
  linuxHostNameOfKey,
  linuxInterfaceAddressKey,
  linuxInterfaceStateKey,
} from '#models/linux/derived.ts';
import type { VethLinkChecksumOffloading } from '#models/linux/interface.gen.ts';
import { type LinuxInterface, linuxInterfaceModel } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinkSettings, LinuxHost, LinuxNeighbor } from '../../api.ts';
import { ignoreNotFound } from '../ignored-errors.ts';
import { ALIAS_LENGTH } from '../link-marks.ts';
import type { LinuxDescriptorOptions } from '../options.ts';
import { KERNEL_MTU } from './found-links.ts';
import { HOST_NAME_LENGTH, hostNameOf, linkLocation } from './link-location.ts';
import { retrieveLinks } from './retrieve.ts';
import { existingLink } from './types/existing-link.ts';
import type { LinkTypeHandler } from './types/handler.ts';
import { tapToVpp } from './types/tap-to-vpp.ts';
import { Veth } from './types/veth.ts';

type Metadata = LinuxInterfaceMetadata;

export function linuxInterfaceDescriptor(
  needs: LinuxDescriptorOptions,
): KvDescriptor<LinuxInterface, Metadata> {
  const { host, log, marks, dumps, lostTapLinks } = needs;
  const veth = new Veth(host, marks);
  const kinds: ReadonlyMap<LinuxInterface['type'], LinkTypeHandler> = new Map(
    [veth, tapToVpp(host, marks), existingLink('LOOPBACK'), existingLink('EXISTING')].map(
      (kind: LinkTypeHandler) => [kind.type, kind],
    ),
  );
  const kindFor = (value: LinuxInterface): LinkTypeHandler => {
    const kind = kinds.get(value.type);
    // validate rejects other types
    if (kind === undefined) throw new TypeError(`no kind for ${value.type}`);
    return kind;
  };
  /** Applies the differences of the two values together. @param before undefined: just created */
  const applySettings = async (
    { namespace, hostIfName }: Metadata,
    before: LinuxInterface | undefined,
    after: LinuxInterface,
    shared: boolean,
    mark?: string,
  ): Promise<void> => {
    const settings = {
      ...(mark !== undefined && { alias: mark }),
      ...changedSettings(before, after, shared),
    };
    const offload = changedOffload(before, after);
    await allSettled([
      ...(Object.keys(settings).length > 0 ? [host.setLink(namespace, hostIfName, settings)] : []),
      ...(offload === undefined ? [] : [host.setChecksumOffload(namespace, hostIfName, offload)]),
    ]);
  };

  return defineDescriptor('linux-interface', linuxInterfaceModel, {
    validate(key, value) {
      validate(key, value);
      const kind = kinds.get(value.type);
      checkField(key, kind !== undefined, `type`, `${value.type} is not supported`);
      kind?.validate(key, value);
      const mark = Buffer.byteLength(marks.longest(value));
      checkField(key, mark <= ALIAS_LENGTH, 'name', 'is too long for the alias of a link');
    },
    equivalent: (_key, a, b) => !needsRecreate(a, b) && sameSettings(a, b),
    needsRecreate: (_key, before, after) => needsRecreate(before, after),
    dependencies: (_key, value) => kinds.get(value.type)?.dependencies(value) ?? [],
    claims: (_key, value) => claims(value),
    derived: (_key, value) => derived(value),

    /** A move to a name that is taken fails before any setting of the link changes. */
    create: (_key, value, ctx) =>
      allOrNothing(log, (undo) => {
        dumps.invalidate();
        const kind = kindFor(value);
        return kind.create(value, ctx, undo, (metadata, mark) =>
          applySettings(metadata, undefined, value, kind.isShared, mark),
        );
      }),

    /** When the MAC changes, the kernel deletes all neighbors of the link, permanent ones too. */
    async update(_key, before, after, metadata) {
      dumps.invalidate();
      const { isShared: shared } = kindFor(after);
      const { mac } = changedSettings(before, after, shared);
      const kept = mac === undefined ? [] : await permanentNeighbors(host, metadata);
      try {
        await applySettings(metadata, before, after, shared);
      } finally {
        await allSettled(kept.map((entry) => host.setNeighbor(metadata.namespace, entry)));
      }
      return metadata;
    },

    async delete(_key, value, metadata) {
      dumps.invalidate();
      await ignoreNotFound(kindFor(value).delete(value, metadata));
    },

    retrieve: (correlate, ctx) =>
      retrieveLinks({ host, log, marks, dumps, lostTapLinks, veth }, correlate, ctx),
  });
}

async function permanentNeighbors(
  host: LinuxHost,
  { namespace, hostIfName }: Metadata,
): Promise<readonly LinuxNeighbor[]> {
  const { neighbors } = await host.dump(namespace);
  return neighbors.filter(({ permanent, device }) => permanent && device === hostIfName);
}

/** The settings of a link that the agent did not create are unknown. */
function changedSettings(
  before: LinuxInterface | undefined,
  after: LinuxInterface,
  shared: boolean,
): LinkSettings {
  const mac = after.link_only ? '' : after.phys_address;
  const mtu = after.mtu === 0 && !shared ? KERNEL_MTU : after.mtu;
  const isUp = before?.enabled ?? (shared ? undefined : false);
  return {
    ...(mac !== '' && mac !== before?.phys_address && { mac }),
    ...(mtu !== 0 && after.mtu !== before?.mtu && { mtu }),
    ...(after.enabled !== isUp && { up: after.enabled }),
  };
}

function isOn(offload: VethLinkChecksumOffloading | undefined): boolean {
  return offload !== 'CHKSM_OFFLOAD_DISABLED';
}

/** The directions that change; the kernel's default is on. */
function changedOffload(
  before: LinuxInterface | undefined,
  after: LinuxInterface,
): { readonly rx?: boolean; readonly tx?: boolean } | undefined {
  const rx = isOn(after.veth?.rx_checksum_offloading);
  const tx = isOn(after.veth?.tx_checksum_offloading);
  const changed = {
    ...(rx !== isOn(before?.veth?.rx_checksum_offloading) && { rx }),
    ...(tx !== isOn(before?.veth?.tx_checksum_offloading) && { tx }),
  };
  return Object.keys(changed).length === 0 ? undefined : changed;
}

function sameSettings(a: LinuxInterface, b: LinuxInterface): boolean {
  const macLeft = b.link_only || b.phys_address === '';
  return (
    a.enabled === b.enabled &&
    a.mtu === b.mtu &&
    (macLeft || a.phys_address === b.phys_address) &&
    changedOffload(a, b) === undefined
  );
}

function needsRecreate(before: LinuxInterface, after: LinuxInterface): boolean {
  return (
    before.type !== after.type ||
    !isDeepStrictEqual(linkLocation(before), linkLocation(after)) ||
    before.veth?.peer_if_name !== after.veth?.peer_if_name ||
    before.tap?.vpp_tap_if_name !== after.tap?.vpp_tap_if_name
  );
}

/** Its location, and the peer that can have only one other end. */
function claims(value: LinuxInterface): readonly string[] {
  const { namespace = 'own', name } = linkLocation(value);
  const { veth, tap } = value;
  return [
    `link/${namespace}/${name}`,
    ...(veth === undefined ? [] : [`veth-end/${veth.peer_if_name}`]),
    ...(tap === undefined ? [] : [`vpp-tap/${tap.vpp_tap_if_name}`]),
  ];
}

function validate(key: string, value: LinuxInterface): void {
  const { name, namespace } = value;
  checkField(key, name !== '', 'name', 'missing');
  checkField(
    key,
    !name.includes('/'),
    'name',
    'contains a slash, which the mark of a link cannot contain',
  );
  const host = hostNameOf(value);
  const fits = Buffer.byteLength(host) <= HOST_NAME_LENGTH;
  checkField(key, fits, `host_if_name`, `${host} is longer than ${HOST_NAME_LENGTH} bytes`);
  checkField(
    key,
    /^[^\s/]+$/.test(host) && !/^\.\.?$/.test(host),
    'host_if_name',
    'is not a valid link name',
  );
  checkField(
    key,
    value.veth === undefined || value.type === 'VETH',
    'veth',
    'is only valid with type VETH',
  );
  const isTap = value.type === 'TAP_TO_VPP';
  checkField(key, value.tap === undefined || isTap, 'tap', 'is only valid with type TAP_TO_VPP');
  checkField(key, value.vrf_dev === undefined, 'vrf_dev', 'not supported');
  checkField(key, value.vrf_master_interface === '', 'vrf_master_interface', 'not supported');
  checkField(
    key,
    namespace?.type !== 'MICROSERVICE',
    'namespace',
    'microservices are not supported',
  );
  const reference = namespace?.reference ?? '';
  const named = namespace === undefined || namespace.type === 'UNDEFINED' || reference !== '';
  checkField(key, named, 'namespace.reference', 'missing');
  const isNumber = namespace?.type !== 'PID' || /^\d+$/.test(reference);
  checkField(key, isNumber, 'namespace.reference', 'is not a process ID');
  const isPath = namespace?.type !== 'FD' || reference.startsWith('/');
  checkField(key, isPath, 'namespace.reference', 'is not an absolute path');
  const isName = namespace?.type !== 'NSID' || !/[/\0]/.test(reference);
  checkField(key, isName, 'namespace.reference', 'is not a name in /run/netns');
  const allocated = value.ip_addresses.some((address) => address.startsWith('alloc:'));
  checkField(
    key,
    !allocated,
    'ip_addresses',
    'references to allocated addresses are not supported',
  );
}

function derived(value: LinuxInterface): readonly KeyedValue[] {
  const { name: iface } = value;
  const state = value.enabled ? 'UP' : 'DOWN';
  const { namespace, name: host } = linkLocation(value);
  const addresses = value.link_only ? [] : [...new Set(value.ip_addresses)];
  return [
    { key: linuxInterfaceStateKey.build({ iface, state }), value: emptyValue },
    ...(namespace === undefined
      ? [{ key: linuxHostNameOfKey.build({ host, iface }), value: emptyValue }]
      : []),
    ...addresses.map((address) => ({
      key: linuxInterfaceAddressKey.build({ iface, source: 'static', address }),
      value: emptyValue,
    })),
  ];
}
