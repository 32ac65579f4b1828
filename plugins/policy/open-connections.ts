/** Connections that are open at interfaces that get a table, read from the kernel: its sockets know who has opened them. */
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { Connection, HostPort } from '#plugins/controller/api/ports/host.ts';
import type { AttachmentId, PodManagerApi } from '#plugins/podmanager/api.ts';
import {
  amongThem,
  type KeptConnection,
  limited,
  openedByPod,
  openedToPod,
  unread,
} from './acl/kept-connections.ts';
import { type AclRenderer, NODE, type TableOwner } from './acl/renderer.ts';
import type { WiredPod } from './api.ts';

export const ConnectionsNotKeptError = defineError({
  name: 'ConnectionsNotKeptError',
  code: 'CV_POLICY_CONNECTIONS_NOT_KEPT',
  remedy:
    'The pod is isolated as its policies say. TCP connections that were open before its first policy may get no replies: processes that hang must connect again. Where the kernel did not answer, the next resync reads the connections.',
});

export interface OpenConnectionsDeps {
  readonly host: Pick<HostPort, 'connections'>;
  readonly pods: PodManagerApi;
}

interface OpenAtOwner {
  readonly open: readonly KeptConnection[];
  readonly isComplete: boolean;
}

type PortContext = Pick<UpdateContext, 'callPort' | 'log'>;

export class OpenConnections {
  readonly #deps: OpenConnectionsDeps;
  readonly #attached: ReadonlyMap<AttachmentId, WiredPod>;
  readonly #renderer: Pick<AclRenderer, 'senders'>;

  constructor(
    deps: OpenConnectionsDeps,
    attached: ReadonlyMap<AttachmentId, WiredPod>,
    renderer: Pick<AclRenderer, 'senders'>,
  ) {
    this.#deps = deps;
    this.#attached = attached;
    this.#renderer = renderer;
  }

  /** Connections whose replies a new table of the owner may deny. */
  async toKeep(ctx: PortContext, owner: TableOwner): Promise<readonly KeptConnection[]> {
    const { open, isComplete } = await this.#at(ctx, owner);
    const kept = limited(open);
    if (open.length > kept.length) {
      const text = `${open.length} connections are open, and ${kept.length} of them are kept`;
      this.#warn(ctx, new ConnectionsNotKeptError(text, { where: this.#nameOf(owner) }));
    }
    return isComplete ? kept : [unread, ...kept];
  }

  /** The connections that are not known to be closed. */
  async stillOpen(
    ctx: PortContext,
    owner: TableOwner,
    kept: readonly KeptConnection[],
  ): Promise<readonly KeptConnection[]> {
    const { open, isComplete } = await this.#at(ctx, owner);
    return isComplete ? amongThem(kept, open) : kept;
  }

  /** Without those of other addresses, such as loopback. */
  async #at(ctx: PortContext, owner: TableOwner): Promise<OpenAtOwner> {
    const ids = owner === NODE ? this.#renderer.senders() : [owner];
    const found = await Promise.all(ids.map((id) => this.#of(ctx, id)));
    const all = found.flatMap((connections) => connections ?? []);
    const addresses = this.#addressesOf(ids);
    const open =
      owner === NODE
        ? openedToPod(all).filter(({ source }) => addresses.has(source.address))
        : openedByPod(all).filter(({ destination }) => addresses.has(destination.address));
    return { open, isComplete: !found.includes(undefined) };
  }

  #addressesOf(ids: readonly AttachmentId[]): ReadonlySet<string> {
    return new Set(ids.flatMap((id) => this.#attached.get(id)?.pod.addresses ?? []));
  }

  /** None where the namespace is unknown: what the pod has opened may end. @returns undefined when the kernel does not tell */
  async #of(ctx: PortContext, id: AttachmentId): Promise<readonly Connection[] | undefined> {
    const { host, pods } = this.#deps;
    const attachment = pods.attachments().get(id);
    if (!attachment || attachment.networkNamespace === '' || pods.isDisplaced(id)) return [];
    const { networkNamespace } = attachment;
    try {
      return await ctx.callPort(`host/connections ${id}`, () => host.connections(networkNamespace));
    } catch (cause) {
      const text = `the connections in ${networkNamespace} cannot be read: ${errorText(cause)}`;
      this.#warn(ctx, new ConnectionsNotKeptError(text, { where: this.#nameOf(id), cause }));
      return undefined;
    }
  }

  #nameOf(owner: TableOwner): string {
    return owner === NODE ? 'node' : (this.#attached.get(owner)?.pod.pod ?? owner);
  }

  #warn({ log }: PortContext, err: Error): void {
    log.warn({ err }, 'connections that were open before a table may end');
  }
}
