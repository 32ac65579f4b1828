/**
 * Recognizes attachments without a record by the marks that they left: the tag of the interface in VPP,
 * and the alias of the link in the pod. See docs/adoption.md.
 */
import type { MarkedLink, NamespaceIdentity } from '#plugins/controller/api/ports/host.ts';
import type { InterfaceNeighbors } from '#plugins/controller/api/ports/vpp.ts';
import type { AdoptedLink, LinkNaming, LinkOwner } from './api.ts';

/** An interface of VPP that no record explains. */
export interface UnexplainedInterface extends InterfaceNeighbors {
  readonly logicalName: string;
  readonly owner: LinkOwner;
}

export interface FoundAttachment {
  readonly containerId: string;
  readonly interfaceName: string;
  readonly adopted: AdoptedLink;
  /** undefined: not found, so the pod cannot be configured. */
  readonly namespace: { readonly path: string; readonly identity: NamespaceIdentity } | undefined;
}

export interface Evidence {
  readonly interfaces: readonly UnexplainedInterface[];
  /** Marked links of all namespaces. */
  readonly links: readonly MarkedLink[];
  /** Whether a record explains the interface of VPP with this logical name. */
  readonly isExplained: (vppInterface: string) => boolean;
  /** Whether a Pod record contains the address. */
  readonly isOfPod: (address: string) => boolean;
}

type OwnedLink = NonNullable<ReturnType<LinkNaming['ofLinuxLink']>> & { readonly link: MarkedLink };

export function findAttachments(
  { interfaces, links, isExplained, isOfPod }: Evidence,
  naming: LinkNaming,
): readonly FoundAttachment[] {
  const owned = links.flatMap((link): OwnedLink[] => {
    const owner = naming.ofLinuxLink(link);
    return owner ? [{ ...owner, link }] : [];
  });
  const inPods = owned.filter(({ isHostEnd, link }) => !isHostEnd && link.namespace !== undefined);
  const used = new Set<OwnedLink>();
  const found = interfaces.map((each) => {
    // VPP 26.06 may append bytes to the tag of a TAP
    const isOf = ({ vppInterface }: OwnedLink): boolean =>
      each.logicalName.startsWith(vppInterface);
    const inPod = inPods.find(isOf);
    if (inPod) used.add(inPod);
    const owner = (inPod ?? owned.find(isOf))?.owner ?? each.owner;
    return attachmentOf(owner, inPod?.link, each, isOfPod);
  });
  // a veth pair stays when VPP has lost its interface; without its host end it is that of another agent
  const hostEnds = new Set(
    owned
      .filter(({ isHostEnd, link }) => isHostEnd && link.namespace === undefined)
      .map(({ vppInterface }) => vppInterface),
  );
  const withoutInterface = inPods.filter(
    (one) =>
      !used.has(one) &&
      hostEnds.has(one.vppInterface) &&
      !isExplained(one.vppInterface) &&
      one.link.neighbors.length > 0 &&
      one.link.addresses.some((address) => isOfPod(withoutLength(address))),
  );
  return [
    ...found,
    ...withoutInterface.map(({ owner, link }) =>
      attachmentOf(owner, link, { mac: link.neighbors[0]!.mac, neighbors: [] }, isOfPod),
    ),
  ];
}

/** The link in the pod decides: what VPP has may be of an earlier address. */
function attachmentOf(
  { containerId, interfaceName, isIdCut }: LinkOwner,
  link: MarkedLink | undefined,
  { mac, neighbors }: InterfaceNeighbors,
  isOfPod: Evidence['isOfPod'],
): FoundAttachment {
  const onLink = link?.addresses.map(withoutLength) ?? [];
  const neighbor = neighbors.find(({ address }) => onLink.includes(address)) ?? neighbors[0];
  const address =
    neighbor && onLink.includes(neighbor.address)
      ? neighbor.address
      : (onLink[0] ?? neighbor?.address);
  // the link may have others, which the pod has added itself
  const inVpp = neighbors.map((one) => one.address);
  const all = !link
    ? inVpp
    : onLink.filter((one) => (neighbors.length > 0 ? inVpp.includes(one) : isOfPod(one)));
  const [, ...furtherAddresses] = address === undefined ? [] : onePerFamily([address, ...all]);
  return {
    containerId,
    interfaceName,
    adopted: {
      isIdCut,
      macs: { linux: link?.mac ?? neighbor?.mac ?? '', vpp: mac },
      address,
      ...(furtherAddresses.length > 0 && { furtherAddresses }),
    },
    namespace: link && { path: link.namespace!, identity: link.namespaceIdentity },
  };
}

/** The first address of each family, in their order. */
export function onePerFamily(addresses: readonly string[]): readonly string[] {
  const isIpv6 = (address: string): boolean => address.includes(':');
  return addresses.filter(
    (one, at) => addresses.findIndex((other) => isIpv6(other) === isIpv6(one)) === at,
  );
}

function withoutLength(cidr: string): string {
  return cidr.split('/')[0]!;
}
