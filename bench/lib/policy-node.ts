/** A node whose policies are computed and rendered as in the agent, without the event loop. */
import { Slices } from '#infra/clock/slices.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { Acl } from '#models/vpp/acl.ts';
import { EventTransaction } from '#plugins/controller/event-transaction.ts';
import { ValueGroups } from '#plugins/controller/value-groups.ts';
import { AclRenderer } from '#plugins/policy/acl/renderer.ts';
import type { PodPolicy } from '#plugins/policy/pod-policy.ts';
import { type AttachedPod, PolicyProcessor } from '#plugins/policy/processor/policy-processor.ts';
import type { ProcessorChange } from '#plugins/policy/processor/processor-change.ts';
import type { PolicyNode, RenderedPod, RendererContext } from '#plugins/policy/rendered-state.ts';
import type { Records } from './policy-cluster.ts';

const node: PolicyNode = {
  addresses: ['172.16.0.1', '172.30.1.1', '172.30.1.2', '192.168.16.1'],
  natLoopbacks: ['10.64.1.254'],
  podSubnets: ['10.64.1.0/24'],
  interfaces: ['vxlanBVI', 'vrfLink'],
  nics: ['uplink'],
  hostLink: 'tap-vpp2',
};

type Change = Parameters<PolicyProcessor['change']>[0];

export class PolicyBenchNode {
  #rendered: { readonly processor: PolicyProcessor; readonly renderer: AclRenderer } | undefined;
  #groups = new ValueGroups([]);
  /** Number of ACLs that were put so far. */
  puts = 0;

  async resync(records: Records, attachments: ReadonlyMap<string, AttachedPod>): Promise<void> {
    const slices = new Slices(systemClock);
    const processor = await PolicyProcessor.read(records, attachments, slices);
    this.#groups = new ValueGroups([]);
    const policies = processor.policies();
    const pods = new Map([...policies].map(([id, policy]) => [id, rendered(id, policy)]));
    const state = { node, pods, services: new Map() };
    const renderer = await this.#commit((ctx) => AclRenderer.render(ctx, state));
    this.#rendered = { processor, renderer };
  }

  async change(change: Change): Promise<ProcessorChange> {
    return this.#render(await this.#node.processor.change(change, new Slices(systemClock)));
  }

  async setAttachment(id: string, pod: AttachedPod | undefined): Promise<ProcessorChange> {
    return this.#render(await this.#node.processor.setAttachment(id, pod, new Slices(systemClock)));
  }

  policies(): readonly PodPolicy[] {
    return [...this.#node.processor.policies().values()];
  }

  acls(): readonly Acl[] {
    return Array.from(this.#groups.all(), ({ value }) => value as Acl);
  }

  /** Number of policies of which less is permitted than they say. */
  get limited(): number {
    return this.#node.renderer.limits().size;
  }

  get #node() {
    if (!this.#rendered) throw new Error('the node has read no cluster yet');
    return this.#rendered;
  }

  async #render(change: ProcessorChange): Promise<ProcessorChange> {
    const pods = new Map(
      [...change.pods].map(([id, policy]) => [id, policy && rendered(id, policy)]),
    );
    await this.#commit((ctx) => this.#node.renderer.update(ctx, { pods }));
    return change;
  }

  async #commit<T>(render: (ctx: RendererContext) => Promise<T>): Promise<T> {
    const txn = new EventTransaction(this.#groups, false);
    const replace: RendererContext['txn']['replace'] = (...group) =>
      txn.replace('policy', ...group);
    const result = await render({ txn: { replace }, clock: systemClock });
    for (const value of txn.changes.values()) if (value !== null) this.puts++;
    return result;
  }
}

function rendered(id: string, policy: PodPolicy): RenderedPod {
  return { policy, interface: `vpp-tap-${id}` };
}
