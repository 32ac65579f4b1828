/** Two nodes of one cluster on simulated VPP and Linux, with their trace documents. */
import assert from 'node:assert/strict';
import type { KvStore } from '#datastore/api.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { type AnyResource, REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { vxlanTunnel } from '#plugins/ipv4net/names.ts';
import {
  addPod,
  makeNode,
  type Node,
  type RunningAgent,
  replyAddress,
  startAgent,
  until,
} from '#test/cmd/agent/harness.ts';
import { NIC, section } from '#test/cmd/agent/scenario.ts';
import { snapshotOfDocuments } from './document-snapshot.ts';

export interface SimulatedNode {
  readonly name: string;
  readonly running: RunningAgent;
  /** Address of the host that is not configured by the agent. */
  readonly hostAddress: string;
}

export class SimulatedCluster implements AsyncDisposable {
  readonly nodes: readonly SimulatedNode[];
  readonly #records: KvStore;

  static async start(useTap: boolean): Promise<SimulatedCluster> {
    const { cluster } = makeNode();
    const nodes: SimulatedNode[] = [];
    for (const name of ['node1', 'node2']) {
      const node: Node = { ...makeNode(), cluster };
      const hostAddress = `172.16.0.${nodes.length + 1}`;
      node.linux.addNic('eth0');
      await node.linux.addAddress(undefined, 'eth0', `${hostAddress}/24`);
      node.linux.addNic(NIC);
      const value = nodeModel.canonical({
        name,
        addresses: [{ type: 'NodeInternalIP', address: hostAddress }],
      });
      const key = REFLECTOR_PREFIX + resources.node.key(name, '');
      await cluster.put(key, valueText(resources.node, value));
      const running = await startAgent(node, {
        label: name,
        contiv: { nodeConfig: [{ ...section({}), nodeName: name }], useTAPInterfaces: useTap },
      });
      nodes.push({ name, running, hostAddress });
    }
    const made = new SimulatedCluster(nodes, cluster);
    await until(async () => {
      const documents = await made.documents('SB');
      return documents.every(({ values }) =>
        Object.keys(values).some((key) => key.startsWith('config/vpp/l2/v2/fib/')),
      );
    });
    return made;
  }

  private constructor(nodes: readonly SimulatedNode[], records: KvStore) {
    this.nodes = nodes;
    this.#records = records;
  }

  /** Writes the records of a node without an agent; resolves when the others have a tunnel to it. */
  async tell(id: number, name: string, vpp: string, addresses: readonly string[]): Promise<void> {
    const ofHost = addresses.map((address) => ({ type: 'NodeInternalIP' as const, address }));
    for (const [resource, value] of [
      [resources.vppnode, vppNodeModel.canonical({ id, name, ip_addresses: [vpp] })],
      [resources.node, nodeModel.canonical({ name, addresses: ofHost })],
    ] as readonly [AnyResource, object][])
      await this.#records.put(
        REFLECTOR_PREFIX + resource.model.key(value),
        valueText(resource, value),
      );
    await until(async () => {
      const documents = await this.documents('SB');
      return documents.every(
        ({ values }) => vppInterfaceKey.build({ name: vxlanTunnel(id) }) in values,
      );
    });
  }

  /** @returns the address of the pod */
  async pod(node: SimulatedNode, name: string): Promise<string> {
    const pod = { name, containerId: `c-${name}`, netns: `/run/netns/${name}` };
    const reply = await addPod(node.running, pod);
    assert.equal(reply.error, '');
    return replyAddress(reply);
  }

  documents(view: 'SB' | 'NB'): Promise<NodeSnapshot[]> {
    return Promise.all(
      this.nodes.map(async ({ running }) => {
        const { status, body } = await running.get(`/trace/node?view=${view}`);
        assert.equal(status, 200, JSON.stringify(body));
        return body as NodeSnapshot;
      }),
    );
  }

  async snapshot(view: 'SB' | 'NB'): Promise<Snapshot> {
    return snapshotOfDocuments(await this.documents(view));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { running } of this.nodes) await running.stop();
  }
}
