/** Connections that are open at interfaces that get a table, read from the kernel: its sockets know who has opened them. */
import { errorText } from '#infra/errors/errors.ts';
import type { UpdateContext } from '#plugins/controller/api/event-handler.ts';
import type { Connection, HostPort } from '#plugins/controller/api/ports/host.ts';
import type { AttachmentId, PodManagerApi } from '#plugins/podmanager/api.ts';
import {
  type KeptConnection,
  keptConnections,
  openedByPod,
  openedToPod,
} from './acl/kept-connections.ts';
import { type AclRenderer, NODE, type TableOwner } from './acl/renderer.ts';
import type { WiredPod } from './api.ts';

export interface OpenConnectionsDeps {
  readonly host: Pick<HostPort, 'connections'>;
  readonly pods: PodManagerApi;
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

  /** Connections whose replies the table of the owner may deny. */
  async at(ctx: PortContext, owner: TableOwner): Promise<readonly KeptConnection[]> {
    if (owner !== NODE) {
      const own = await this.#of(ctx, owner);
      return keptConnections(openedByPod(own), 'destination', this.#addressesOf([owner]));
    }
    const senders = this.#renderer.senders();
    const all = await Promise.all(senders.map((id) => this.#of(ctx, id)));
    return keptConnections(all.flatMap(openedToPod), 'source', this.#addressesOf(senders));
  }

  #addressesOf(ids: readonly AttachmentId[]): ReadonlySet<string> {
    return new Set(ids.flatMap((id) => this.#attached.get(id)?.pod.addresses ?? []));
  }

  /** None where the namespace is unknown: what the pod has opened may end. */
  async #of({ callPort, log }: PortContext, id: AttachmentId): Promise<readonly Connection[]> {
    const { host, pods } = this.#deps;
    const attachment = pods.attachments().get(id);
    if (!attachment || attachment.networkNamespace === '' || pods.isDisplaced(id)) return [];
    const { networkNamespace } = attachment;
    try {
      return await callPort(`host/connections ${id}`, () => host.connections(networkNamespace));
    } catch (thrown) {
      const { pod } = this.#attached.get(id)?.pod ?? {};
      log.warn(
        { pod, namespace: networkNamespace, error: errorText(thrown) },
        'cannot read the connections of a pod: those that a new table denies replies to will end',
      );
      return [];
    }
  }
}
