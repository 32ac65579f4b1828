/**
 * Another implementation of the IPAM's api.ts: a list assigns an address to every pod. Plugins that
 * read addresses need no change.
 *
 * Who has which address follows from the list and from the attachments that podmanager knows, so
 * nothing is remembered, and nothing can be lost in a crash.
 */

import { defineError } from '#infra/errors/errors.ts';
import type { ContivConfApi } from '#plugins/contivconf/api.ts';
import { type Event, EventMethod } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  ResyncContext,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { Table } from '#plugins/controller/api/table.ts';
import {
  type Allocation,
  type IpamApi,
  type Plan,
  PlannedAddresses,
  planOf,
  podAddressOwner,
} from '#plugins/ipam/api.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import {
  AddPod,
  type Attachment,
  type AttachmentId,
  attachmentId,
  DeletePod,
  type PodId,
  type PodManagerApi,
  podIdText,
} from '#plugins/podmanager/api.ts';

export const NotListedError = defineError({
  name: 'NotListedError',
  code: 'CV_EXAMPLE_NOT_LISTED',
  remedy: 'Add an address of its node for the pod to the list of the static IPAM.',
});

export const AddressInUseError = defineError({
  name: 'AddressInUseError',
  code: 'CV_EXAMPLE_ADDRESS_HELD',
  remedy: 'Nothing: the runtime retries after it has deleted the previous container.',
});

export interface StaticIpamDeps {
  /** `<namespace>/<name>` of a pod to its plain address. */
  readonly addresses: ReadonlyMap<string, string>;
  readonly conf: Pick<ContivConfApi, 'ipam' | 'defaultGateways'>;
  readonly nodes: Pick<NodeSyncApi, 'thisNode'>;
  readonly pods: Pick<PodManagerApi, 'attachments'>;
}

export function createStaticIpam(deps: StaticIpamDeps): EventHandler & IpamApi {
  return new StaticIpam(deps);
}

interface State {
  readonly plan: Plan;
  /** Address to the attachment that uses it. A reverted Add Pod is rolled back by the event loop. */
  readonly used: Table<string, Attachment>;
}

class StaticIpam extends PlannedAddresses implements EventHandler<State>, IpamApi {
  readonly name = 'ipam';
  readonly state = new HandlerState<State>(this.name);
  readonly #deps: StaticIpamDeps;

  constructor(deps: StaticIpamDeps) {
    super();
    this.#deps = deps;
  }

  protected get plan(): Plan | undefined {
    return this.state.known?.plan;
  }

  handlesEvent(event: Event): boolean {
    if (event.kind.method(event.payload) !== EventMethod.Update) return true;
    return AddPod.is(event) || DeletePod.is(event);
  }

  resync(ctx: ResyncContext): State {
    const { conf, nodes, pods } = this.#deps;
    const defaultGateways = conf.defaultGateways();
    const plan = planOf({ nodeId: nodes.thisNode().id, config: conf.ipam(), defaultGateways });
    const used: State['used'] = new Table(ctx.journal);
    for (const attachment of pods.attachments().values()) {
      const address = this.#listed(attachment.pod);
      if (address === undefined)
        ctx.log.error({ pod: podIdText(attachment.pod) }, 'a pod has no address in the list');
      // Of two containers of a pod the older one is wired with it.
      else if (!used.has(address)) used.set(address, attachment);
    }
    return { plan, used };
  }

  update({ event }: UpdateContext, { used }: State): UpdateResult {
    if (AddPod.is(event)) {
      const attachment = this.#deps.pods.attachments().get(attachmentId(event.payload));
      return attachment ? this.#take(used, attachment) : {};
    }
    if (DeletePod.is(event)) {
      const [address] = this.podAddresses(attachmentId(event.payload));
      if (address === undefined) return {};
      used.delete(address);
      return { change: `address ${address} is free` };
    }
    return {};
  }

  podAddresses(attachment: AttachmentId): readonly string[] {
    for (const [address, holder] of this.state.known?.used ?? [])
      if (attachmentId(holder) === attachment) return [address];
    return [];
  }

  allocations(): ReadonlyMap<string, Allocation> {
    return new Map(
      [...(this.state.known?.used ?? [])].map(([address, { pod, podUid, ...holder }]) => [
        address,
        { address, pod, podUid, attachment: attachmentId(holder) },
      ]),
    );
  }

  describeInternalData(): string {
    return [...(this.state.known?.used ?? [])]
      .map(([address, by]) => `${address} ${attachmentId(by)}`)
      .sort()
      .join();
  }

  /** Undefined for an address that other nodes would not look for here. */
  #listed(pod: PodId): string | undefined {
    const address = this.#deps.addresses.get(podIdText(pod));
    if (address === undefined) return undefined;
    const owner = podAddressOwner(this.#deps.conf.ipam())(address);
    return owner === this.#deps.nodes.thisNode().id ? address : undefined;
  }

  #take(used: State['used'], attachment: Attachment): UpdateResult {
    const where = podIdText(attachment.pod);
    const address = this.#listed(attachment.pod);
    if (address === undefined)
      throw new NotListedError('no address of this node is listed', { where });
    const holder = used.get(address);
    if (holder && attachmentId(holder) === attachmentId(attachment)) return {};
    if (holder)
      throw new AddressInUseError(`${address} is held by container ${holder.containerId}`, {
        where,
      });
    used.set(address, attachment);
    return { change: `address ${address} for ${where}` };
  }
}
