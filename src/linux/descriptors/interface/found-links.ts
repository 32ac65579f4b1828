/** Links that were found in namespaces, and the values that they are. */
import type { RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import type { InterfaceType } from '#models/linux/interface.gen.ts';
import {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
  type NetNamespace,
} from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinuxLink, NamespacePath } from '../../api.ts';
import type { LinkMark } from '../link-marks.ts';
import { namespacePath } from '../namespaces.ts';
import { hostNameOf, linkLocation } from './link-location.ts';

/** Initial MTU of the links that the agent creates. */
export const KERNEL_MTU = 1500;

export interface NamespaceLinks {
  readonly path: NamespacePath;
  /** In the form of the configuration. */
  readonly namespace: NetNamespace | undefined;
  readonly links: readonly LinuxLink[];
}

export interface FoundLink {
  readonly space: NamespaceLinks;
  readonly link: LinuxLink;
  readonly mark: LinkMark;
}

export type Retrieved = RetrievedValue<LinuxInterface, LinuxInterfaceMetadata>;

export async function readNamespaces(
  desired: readonly LinuxInterface[],
  readLinks: (path: NamespacePath) => Promise<readonly LinuxLink[]>,
): Promise<ReadonlyMap<NamespacePath, NamespaceLinks>> {
  const named = new Map<NamespacePath, NetNamespace | undefined>([[undefined, undefined]]);
  for (const { namespace } of desired) {
    const path = namespacePath(namespace);
    if (!named.has(path)) named.set(path, namespace);
  }
  const namespaces = await Promise.all(
    [...named].map(async ([path, namespace]): Promise<[NamespacePath, NamespaceLinks]> => {
      return [path, { path, namespace, links: await readLinks(path) }];
    }),
  );
  return new Map(namespaces);
}

export function isAtLocation({ space, link }: FoundLink, value: LinuxInterface): boolean {
  const { namespace, name } = linkLocation(value);
  return space.path === namespace && link.name === name;
}

export function managedValue(
  { space, link, mark }: FoundLink,
  desired: LinuxInterface | undefined,
): Retrieved {
  const same = desired?.type === mark.type ? desired : undefined;
  const isSameNamespace = same !== undefined && linkLocation(same).namespace === space.path;
  const value = linuxInterfaceModel.canonical({
    name: mark.name,
    type: mark.type,
    namespace: isSameNamespace ? same.namespace : space.namespace,
    host_if_name:
      same !== undefined && hostNameOf(same) === link.name ? same.host_if_name : link.name,
    enabled: link.up,
    ip_addresses: adoptAddresses(link, same),
    phys_address: adoptMac(link, same),
    mtu: link.mtu === KERNEL_MTU && same?.mtu !== KERNEL_MTU ? 0 : link.mtu,
    link_only: same?.link_only ?? false,
    ...(mark.type === 'VETH' && {
      veth: {
        // a dump does not contain the offload settings
        ...same?.veth,
        peer_if_name: mark.peer,
      },
    }),
    ...(mark.type === 'TAP_TO_VPP' && { tap: { vpp_tap_if_name: mark.vppTap } }),
  });
  return {
    key: linuxInterfaceKey.build({ name: mark.name }),
    value,
    origin: 'from-NB',
    metadata: {
      namespace: space.path,
      hostIfName: link.name,
      ...(mark.type === 'TAP_TO_VPP' && {
        vppHostIfName: mark.vppHostIfName,
        ...(mark.isInPlace && space.path !== undefined && { vppHostNamespace: space.path }),
      }),
    },
  };
}

function adoptMac(link: LinuxLink, desired: LinuxInterface | undefined): string {
  const left = desired !== undefined && (desired.link_only || desired.phys_address === '');
  return left ? desired.phys_address : (link.mac ?? '');
}

function adoptAddresses(link: LinuxLink, desired: LinuxInterface | undefined): readonly string[] {
  const asked = desired?.ip_addresses ?? [];
  if (desired?.link_only === true) return asked;
  const found = new Set(link.addresses);
  // the configuration may list an address twice
  const isAll = found.size === new Set(asked).size;
  const same = isAll && asked.every((address) => found.has(address));
  return same ? asked : link.addresses;
}

const sharedTypes: readonly InterfaceType[] = ['LOOPBACK', 'EXISTING'];

/** For an unmanaged link, reports only the settings that the value contains. */
export function existingLinkValue(
  desired: LinuxInterface,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
): readonly Retrieved[] {
  if (!sharedTypes.includes(desired.type)) return [];
  const { namespace, name } = linkLocation(desired);
  const link = namespaces.get(namespace)?.links.find((each) => each.name === name);
  if (link === undefined) return [];
  const { link_only, ip_addresses } = desired;
  const value = linuxInterfaceModel.canonical({
    ...desired,
    enabled: link.up,
    ip_addresses: ip_addresses.filter((each) => link_only || link.addresses.includes(each)),
    phys_address: adoptMac(link, desired),
    mtu: desired.mtu === 0 ? 0 : link.mtu,
  });
  return [
    {
      key: linuxInterfaceKey.build({ name: desired.name }),
      value,
      origin: 'from-NB',
      metadata: { namespace, hostIfName: name },
    },
  ];
}
