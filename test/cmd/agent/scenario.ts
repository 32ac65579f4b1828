/** A whole cluster node on simulated VPP and Linux, driven by configuration and Kubernetes. */
import assert from 'node:assert/strict';
import { nodeModel } from '#kubernetes/models/node.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, type Resource, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { DeepInput } from '#models/model.ts';
import { HealingResync } from '#plugins/controller/api/events.ts';
import { eventually } from '#test/support/wait.ts';
import {
  type AgentOptions,
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
  until,
} from './harness.ts';

/** The kernel link that is VPP's main interface. */
export const NIC = 'eth1';
export const MAIN_INTERFACE = `host-${NIC}`;

/** For reports of VPP that follow an event. */
const SETTLED_LIMIT_MS = 10_000;

/** A node with a NIC for VPP and an address of its own. */
export async function nodeWithNics(): Promise<Node> {
  const node = makeNode();
  node.linux.addNic('eth0');
  await node.linux.addAddress(undefined, 'eth0', '172.16.0.5/24');
  node.linux.addNic(NIC);
  await tellOfNode(node, 'node1', { address: '172.16.0.5' });
  return node;
}

async function put<T extends object>(node: Node, resource: Resource<T>, value: T): Promise<void> {
  const key = REFLECTOR_PREFIX + resource.model.key(value);
  await node.cluster.put(key, valueText(resource, value));
}

/** As the reflector writes a node; a node with an ID has announced its address too. */
export async function tellOfNode(
  node: Node,
  name: string,
  is: {
    readonly address: string;
    readonly podCidr?: string;
    readonly id?: number;
    readonly vpp?: string;
    /** Of WireGuard. */
    readonly keys?: readonly string[];
  },
): Promise<void> {
  const addresses = [{ type: 'NodeInternalIP' as const, address: is.address }];
  const value = nodeModel.canonical({ name, addresses, pod_CIDR: is.podCidr ?? '' });
  await put(node, resources.node, value);
  if (is.id === undefined) return;
  const keys = is.keys?.map((public_key) => ({ public_key }));
  const record = vppNodeModel.canonical({
    id: is.id,
    name,
    ip_addresses: [is.vpp ?? ''],
    ...(keys && { wireguard: { port: 51_820, keys } }),
  });
  await put(node, resources.vppnode, record);
}

export async function forgetNode(node: Node, name: string, id: number): Promise<void> {
  await node.cluster.delete(REFLECTOR_PREFIX + resources.node.key(name, ''));
  await node.cluster.delete(REFLECTOR_PREFIX + resources.vppnode.key(String(id), ''));
}

export async function setNodeConfig(node: Node, config: DeepInput<NodeConfig>): Promise<void> {
  const value = nodeConfigModel.canonical({ node_name: 'node1', ...config });
  await put(node, resources.nodeconfig, value);
}

interface ValueStatus {
  readonly key: string;
  readonly state: string;
  readonly error?: string;
}

interface EventShown {
  readonly Handlers: readonly { readonly ErrorStr: string }[];
  readonly TxnErrorStr: string;
  /** null: it was not needed. */
  readonly Txn: { readonly Executed: readonly unknown[] | null } | null;
}

/** An agent on such a node. */
export class Scenario implements AsyncDisposable {
  readonly running: RunningAgent;
  readonly node: Node;
  #markers = 0;

  /** @param options of the agent; VPP's main interface is the NIC unless they say otherwise */
  static async start(options: AgentOptions = {}, node?: Node): Promise<Scenario> {
    const nodeConfig = [section({})];
    const on = node ?? (await nodeWithNics());
    const contiv = { nodeConfig, ...options.contiv };
    return new Scenario(await startAgent(on, { ...options, contiv }), on);
  }

  private constructor(running: RunningAgent, node: Node) {
    this.running = running;
    this.node = node;
  }

  /** Every value, base and derived, by key. */
  async #statuses(): Promise<readonly ValueStatus[]> {
    const { status, body } = await this.running.get('/scheduler/status');
    assert.equal(status, 200);
    return (body as { value: ValueStatus; derived_values?: ValueStatus[] }[]).flatMap(
      ({ value, derived_values = [] }) => [value, ...derived_values],
    );
  }

  /** Keys of what is configured, without that of the kernel and of VPP itself. */
  async configured(part: string): Promise<string[]> {
    const all = await this.#statuses();
    return all
      .filter(({ key, state }) => key.includes(part) && state === 'CONFIGURED')
      .map(({ key }) => key)
      .sort();
  }

  /** Asserts that no value has failed or is pending, and that a resync has nothing to do. */
  async assertSettled(): Promise<void> {
    // what VPP reports about removed links may come after the end of the event
    await eventually(async () => {
      const open = (await this.#statuses()).filter(
        ({ state }) => !['CONFIGURED', 'OBTAINED', 'DISCOVERED'].includes(state),
      );
      assert.deepEqual(open, []);
    }, SETTLED_LIMIT_MS);
    await this.running.agent.controller.pushAndWait(
      HealingResync.event({ type: 'after-error', error: 'is there anything to do?' }),
    );
    const { body } = await this.running.get('/controller/event-history');
    const records = body as EventShown[];
    const [first, last] = [records[0]!, records.at(-1)!];
    // the record lists the operations
    assert.ok((first.Txn?.Executed?.length ?? 0) > 0);
    assert.deepEqual(
      last.Handlers.filter(({ ErrorStr }) => ErrorStr !== ''),
      [],
    );
    assert.equal(last.TxnErrorStr, '');
    assert.deepEqual(last.Txn?.Executed ?? [], []);
  }

  /** Resolves when the current content of the datastore is processed. */
  async caughtUp(): Promise<void> {
    const name = `marker-${++this.#markers}`;
    const { controller } = this.running.agent;
    await tellOfNode(this.node, name, { address: '192.0.2.1' });
    await until(() => {
      const [last] = controller.history.records.slice(-1);
      return last?.description.includes(`/${name}`) ?? false;
    });
    await this.node.cluster.delete(REFLECTOR_PREFIX + resources.node.key(name, ''));
  }

  async until(what: () => Promise<boolean> | boolean): Promise<void> {
    await until(what);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.running.stop();
  }
}

/** The section of this node in contiv.conf. */
export function section(main: {
  readonly name?: string;
  readonly ip?: string;
  readonly useDhcp?: boolean;
}) {
  return {
    nodeName: 'node1',
    mainVPPInterface: {
      interfaceName: main.name ?? MAIN_INTERFACE,
      ip: main.ip ?? '',
      useDHCP: main.useDhcp ?? false,
    },
    otherVPPInterfaces: [],
    stealInterface: '',
    gateway: '',
    natExternalTraffic: false,
  };
}
