/**
 * Compares the records of attachments with VPP, Linux and the Pod records. A record may be missing after
 * the local store was lost, or on a node that the original agent has configured. See docs/adoption.md.
 */
import type { DiskStore } from '#datastore/disk-store.ts';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { Pod } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { ResyncContext } from '#plugins/controller/api/event-handler.ts';
import type {
  HostPort,
  MarkedLinks,
  NamespaceIdentity,
} from '#plugins/controller/api/ports/host.ts';
import type { VppPort } from '#plugins/controller/api/ports/vpp.ts';
import {
  type AdoptedLink,
  type Attachment,
  type AttachmentId,
  addressesOfLink,
  attachmentId,
  type ContainerInterface,
  type LinkNaming,
  type PortContext,
  podIdText,
  unknownPod,
} from './api.ts';
import {
  type FoundAttachment,
  findAttachments,
  onePerFamily,
  type UnexplainedInterface,
} from './lost-attachments.ts';
import { PodRecordsByAddress } from './pod-records.ts';

export const PodNotRecoveredError = defineError({
  name: 'PodNotRecoveredError',
  code: 'CV_POD_NOT_RECOVERED',
  isRetriable: false,
  remedy:
    'Delete the pod, so that it is recreated. If no container with this ID exists, run CNI DEL for it.',
});

export const PodWithoutInterfaceError = defineError({
  name: 'PodWithoutInterfaceError',
  code: 'CV_POD_WITHOUT_INTERFACE',
  remedy: 'Delete the pod, so that it is recreated.',
});

export interface LostPodsDeps {
  readonly host: HostPort;
  readonly vpp: VppPort;
  readonly naming: LinkNaming;
  readonly isLocalAddress: (address: string) => boolean;
  readonly disk: Pick<DiskStore, 'loss' | 'resolveLoss'> | undefined;
}

export interface KnownAttachments {
  readonly records: ReadonlyMap<AttachmentId, Attachment>;
  /** Deleted attachments whose interface may still be in VPP. */
  readonly deleted: Iterable<Attachment>;
  /** The namespaces to which the paths of the attachments lead now; null: to none. */
  readonly identities: ReadonlyMap<AttachmentId, NamespaceIdentity | null>;
  /** Whether the Pod records were read from the database. */
  readonly stateIsFresh: boolean;
  /**
   * Whether the agent has just started: interfaces that are unexplained later are orphans of operations
   * that have failed since.
   */
  readonly isStart: boolean;
}

export interface Differences {
  readonly removed: readonly AttachmentId[];
  readonly found: readonly Attachment[];
}

/** VPP 26.06 may append bytes to the tag of a TAP with a name of this length, or a multiple of it. */
const UNTERMINATED_LENGTH = 16;

export class LostPods {
  readonly #deps: LostPodsDeps;
  /** Pod interfaces in VPP: logical name to index. */
  #inVpp: ReadonlyMap<string, number> = new Map();
  #lossIsOpen = false;
  /** Pods that have a local address in their record, but no attachment: by key of the record. */
  readonly #missing = new Map<string, Pod>();

  constructor(deps: LostPodsDeps) {
    this.#deps = deps;
  }

  /** Whether there are pods without an interface, so that changes of Pod records matter. */
  get watchesPods(): boolean {
    return this.#missing.size > 0;
  }

  /** @param current undefined: the record was deleted */
  podChanged(key: string, current: object | undefined): void {
    const address = (current as Pod | undefined)?.ip_address;
    if (address !== this.#missing.get(key)?.ip_address) this.#missing.delete(key);
  }

  isInVpp(link: ContainerInterface): boolean {
    return this.#interfaceOf(link) !== undefined;
  }

  async addressesInVpp(ctx: PortContext, link: ContainerInterface): Promise<readonly string[]> {
    await this.readVpp(ctx);
    const swIfIndex = this.#interfaceOf(link);
    if (swIfIndex === undefined) return [];
    const { neighbors } = await this.#neighborsOf(ctx, swIfIndex);
    return onePerFamily(neighbors.map(({ address }) => address));
  }

  async readVpp(ctx: PortContext): Promise<void> {
    const { naming, vpp } = this.#deps;
    const interfaces = await ctx.callPort('vpp/interfaces', () => vpp.interfaces());
    this.#inVpp = new Map(
      interfaces
        .filter(({ tag }) => naming.ofVppInterface(tag))
        .map(({ tag, swIfIndex }) => [tag, swIfIndex]),
    );
  }

  async compare(ctx: ResyncContext, known: KnownAttachments): Promise<Differences> {
    const { disk } = this.#deps;
    const { records, stateIsFresh, isStart } = known;
    await this.readVpp(ctx);
    const pods = new PodRecordsByAddress(ctx.kubeState);
    const lost = await ctx.callPort('local store/loss', () => disk?.loss ?? null);
    const removed = new Set<AttachmentId>();
    /** In VPP, but their namespace is not where the record says. */
    const unsure = new Map<AttachmentId, Attachment>();
    /** Neither their namespace nor their interface in VPP exists. */
    const gone = new Map<AttachmentId, Attachment>();
    const explained = new Set<string>();
    for (const [id, record] of records) {
      const isKept = record.networkNamespace === '';
      const isThere = !isKept && !isNotThere(record, known.identities.get(id));
      if (!isThere && !this.isInVpp(record)) gone.set(id, record);
      if (!isThere && record.adopted && this.isInVpp(record)) unsure.set(id, record);
      else this.#explain(record, explained);
    }
    for (const one of known.deleted) this.#explain(one, explained);
    const unsureNames = new Set<string>();
    for (const one of unsure.values()) this.#explain(one, unsureNames);
    const unexplained = await this.#unexplained(ctx, (name) =>
      isStart ? isNamed(explained, name) : !isNamed(unsureNames, name),
    );
    for (const [id, record] of gone) {
      // of an older copy of the store; otherwise the attachment waits for its DEL
      const isOutdated = (lost !== null || unexplained.length > 0) && stateIsFresh;
      if (record.networkNamespace !== '' && !(isOutdated && !pods.has(record.pod))) continue;
      removed.add(id);
      ctx.log.warn(
        { pod: podIdText(record.pod), attachment: id },
        'dropping an attachment that has neither a network namespace nor an interface in VPP',
      );
    }
    const found: Attachment[] = [];
    let search: MarkedLinks | undefined;
    if (unexplained.length > 0 || (lost && isStart)) {
      search = await this.#searchNamespaces(ctx);
      const all = findAttachments(
        {
          interfaces: unexplained,
          links: search.links,
          isExplained: (name) => explained.has(name),
          isOfPod: (address) => pods.at(address) !== undefined,
        },
        this.#deps.naming,
      );
      for (const one of all) this.#adopt(ctx, one, { pods, unsure, removed, found });
    }
    const attached = [...records].filter(([id]) => !removed.has(id)).map(([, record]) => record);
    if (lost || found.length > 0)
      await this.#findMissing(ctx, pods, [...attached, ...found], search);
    const isWhole = [...attached, ...found].every(
      ({ networkNamespace }) => networkNamespace !== '',
    );
    this.#lossIsOpen = lost !== null && stateIsFresh && isWhole && this.#missing.size === 0;
    // the first start of a node has nothing to lose
    if (lost && (lost.history !== 'new' || found.length > 0))
      ctx.log.warn({ ...lost, adopted: found.length }, 'the local store had lost entries');
    return { removed: [...removed], found };
  }

  /** To be called when the differences are stored: nothing else is missing. */
  async resolveLoss(ctx: PortContext): Promise<void> {
    if (!this.#lossIsOpen) return;
    this.#lossIsOpen = false;
    await ctx.callPort('local store/resolve loss', async () => {
      await this.#deps.disk?.resolveLoss();
      return null;
    });
  }

  /** The names of pods that were unknown when their attachments were adopted. */
  learnPods(
    ctx: ResyncContext,
    attachments: Iterable<Attachment>,
  ): readonly Pick<Attachment, 'containerId' | 'interfaceName' | 'pod' | 'podUid'>[] {
    const unknown = [...attachments].filter(({ pod }) => pod.name === '');
    if (unknown.length === 0) return [];
    const pods = new PodRecordsByAddress(ctx.kubeState);
    return unknown.flatMap(({ containerId, interfaceName, adopted }) => {
      const pod = adopted && podAt(pods, adopted);
      return pod ? [{ containerId, interfaceName, ...podOf(pod) }] : [];
    });
  }

  problems(attachments: Iterable<Attachment>): readonly CodedError[] {
    // after each event: without missing pods no name is made of each attachment
    const hasMissing = this.#missing.size > 0;
    const attached = new Set<string>();
    const kept: CodedError[] = [];
    for (const attachment of attachments) {
      if (hasMissing) attached.add(podIdText(attachment.pod));
      if (attachment.networkNamespace === '')
        kept.push(
          new PodNotRecoveredError(
            `the network namespace of container ${attachment.containerId} was not found; ` +
              'its interface in VPP is kept, but not repaired',
            { where: `pod ${podIdText(attachment.pod)}` },
          ),
        );
    }
    const missing = [...this.#missing.values()].filter((pod) => !attached.has(podIdText(pod)));
    return [
      ...kept,
      ...missing.map(
        (pod) =>
          new PodWithoutInterfaceError(
            `its record has address ${pod.ip_address} of this node, but no interface with it exists`,
            { where: `pod ${podIdText(pod)}` },
          ),
      ),
    ];
  }

  #adopt(
    ctx: ResyncContext,
    { namespace, ...one }: FoundAttachment,
    state: {
      readonly pods: PodRecordsByAddress;
      readonly unsure: ReadonlyMap<AttachmentId, Attachment>;
      readonly removed: Set<AttachmentId>;
      readonly found: Attachment[];
    },
  ): void {
    const known = [...state.unsure].find(([, record]) => isSameContainer(record, one));
    if (known && !namespace) return;
    if (known && known[0] !== attachmentId(one)) state.removed.add(known[0]);
    const record = podAt(state.pods, one.adopted);
    const { pod, podUid } = record ? podOf(record) : (known?.[1] ?? { pod: unknownPod });
    state.found.push({
      ...one,
      pod,
      podUid,
      network: known?.[1].network,
      networkNamespace: namespace?.path ?? '',
      namespaceIdentity: namespace?.identity,
    });
    const { containerId, adopted } = one;
    const fields = { pod: podIdText(pod), containerId, address: adopted.address };
    if (namespace)
      ctx.log.warn(
        { ...fields, networkNamespace: namespace.path },
        'adopting an attachment that VPP and Linux have without a record',
      );
    else
      ctx.log.error(
        fields,
        'keeping an interface of VPP without a record, because the network namespace of its pod was not found',
      );
  }

  #explain(link: ContainerInterface, explained: Set<string>): void {
    for (const name of this.#deps.naming.vppInterfacesOf(link)) explained.add(name);
  }

  async #unexplained(
    ctx: PortContext,
    isExplained: (logicalName: string) => boolean,
  ): Promise<readonly UnexplainedInterface[]> {
    const unexplained: UnexplainedInterface[] = [];
    for (const [logicalName, swIfIndex] of this.#inVpp) {
      if (isExplained(logicalName)) continue;
      const owner = this.#deps.naming.ofVppInterface(logicalName)!;
      const { mac, neighbors } = await this.#neighborsOf(ctx, swIfIndex);
      unexplained.push({ logicalName, owner, mac, neighbors });
    }
    return unexplained;
  }

  #neighborsOf(ctx: PortContext, swIfIndex: number) {
    return ctx.callPort(`vpp/neighbors of ${swIfIndex}`, () =>
      this.#deps.vpp.neighborsOf(swIfIndex),
    );
  }

  async #searchNamespaces(ctx: ResyncContext): Promise<MarkedLinks> {
    const links = await ctx.callPort('host/marked links', () => this.#deps.host.markedLinks());
    for (const namespace of links.unreadable)
      ctx.log.error({ namespace }, 'cannot read a network namespace while searching for pods');
    return links;
  }

  /**
   * A Pod record does not say whether the pod has ended, and keeps the address then. A pod that runs has a
   * network namespace: if each of them has a link, it is not one of these.
   *
   * @param search of this comparison; undefined: it needed none
   */
  async #findMissing(
    ctx: ResyncContext,
    pods: PodRecordsByAddress,
    attachments: readonly Attachment[],
    search: MarkedLinks | undefined,
  ): Promise<void> {
    const attached = new Set(attachments.map(({ pod }) => podIdText(pod)));
    this.#missing.clear();
    const unattached = [...pods.entries()].filter(
      ([address, pod]) => !attached.has(podIdText(pod)) && this.#deps.isLocalAddress(address),
    );
    if (unattached.length === 0) return;
    const { unlinked, unreadable } = search ?? (await this.#searchNamespaces(ctx));
    const mayRun = unlinked.length > 0 || unreadable.length > 0;
    if (!mayRun)
      ctx.log.info(
        { pods: unattached.length },
        'pods with addresses in their records have ended: they have no namespaces',
      );
    for (const [address, pod] of unattached) {
      const fields = { pod: podIdText(pod), address };
      if (!mayRun) {
        ctx.log.debug(fields, 'a pod with an address in its record has ended: it has no namespace');
        continue;
      }
      this.#missing.set(resources.pod.key(pod.name, pod.namespace), pod);
      ctx.log.error(
        { ...fields, namespaces: unlinked },
        'a pod of this node has an address in its record, but no interface',
      );
    }
  }

  #interfaceOf(link: ContainerInterface): number | undefined {
    const names = this.#deps.naming.vppInterfacesOf(link);
    for (const name of names) {
      const exact = this.#inVpp.get(name);
      if (exact !== undefined) return exact;
    }
    for (const [tag, swIfIndex] of this.#inVpp)
      if (names.some((name) => mayBeTagOf(tag, name))) return swIfIndex;
    return undefined;
  }
}

function mayBeTagOf(tag: string, name: string): boolean {
  return name.length % UNTERMINATED_LENGTH === 0 && tag.startsWith(name);
}

function isNamed(names: ReadonlySet<string>, tag: string): boolean {
  if (names.has(tag)) return true;
  for (const name of names) if (mayBeTagOf(tag, name)) return true;
  return false;
}

/** Whether the path of an attachment leads nowhere, or to another namespace than when it was added. */
function isNotThere(
  { namespaceIdentity }: Attachment,
  now: NamespaceIdentity | null | undefined,
): boolean {
  if (now === undefined || !namespaceIdentity) return false;
  return now?.inode !== namespaceIdentity.inode || now.device !== namespaceIdentity.device;
}

function isSameContainer(a: ContainerInterface, b: ContainerInterface): boolean {
  const isPart = a.containerId.startsWith(b.containerId) || b.containerId.startsWith(a.containerId);
  return a.interfaceName === b.interfaceName && isPart;
}

/** The pod whose record has one of the addresses. */
function podAt(pods: PodRecordsByAddress, link: AdoptedLink): Pod | undefined {
  for (const address of addressesOfLink(link)) {
    const pod = pods.at(address);
    if (pod) return pod;
  }
  return undefined;
}

function podOf({ name, namespace, uid }: Pod): Pick<Attachment, 'pod' | 'podUid'> {
  return { pod: { namespace, name }, podUid: uid || undefined };
}
