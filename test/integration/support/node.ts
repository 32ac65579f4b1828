/** A real node: network namespace, VPP, etcd and agent. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressesIn, addressIn } from '#demonstration/cni-client.ts';
import { systemClock } from '#infra/clock/system.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { type AgentConfig, type Links, RealAgent } from './agent.ts';
import { RealEtcd } from './etcd.ts';
import { Netns } from './netns.ts';
import { vppIn } from './netns-vpp.ts';
import { normalizedVppState } from './normalized-vpp-state.ts';
import { Sandbox } from './sandbox.ts';
import type { VppProcess } from './vpp-process.ts';

const linux = kernelHost({ clock: systemClock });

export interface NodeOptions {
  readonly label?: string;
  /** Default: an etcd of its own. */
  readonly etcd?: RealEtcd;
  /** Keys of etcd.conf; default: the endpoint of that etcd, without TLS. */
  readonly etcdConfig?: AgentConfig['etcd'];
  readonly links?: Links;
  readonly contiv?: AgentConfig['contiv'];
  readonly controller?: AgentConfig['controller'];
  readonly service?: AgentConfig['service'];
  readonly http?: AgentConfig['http'];
  /** Additional flags of the agent. */
  readonly agentFlags?: readonly string[];
  /** Threads of VPP beside the main one; default 0. */
  readonly workers?: number;
  /** Words of the section statseg of VPP's startup.conf. */
  readonly statistics?: string;
  /** Variables for the agent. */
  readonly agentEnv?: (vppSocket: string) => Readonly<Record<string, string | undefined>>;
  /** Words before the command of VPP, which become it. */
  readonly vppWrapper?: readonly string[];
  /** The program of the agent. */
  readonly agentMain?: string;
  /** Words before the command of the agent, which become it. */
  readonly agentWrapper?: readonly string[];
}

export class RealNode implements AsyncDisposable {
  readonly netns: Netns;
  readonly vpp: VppProcess;
  readonly etcd: RealEtcd;
  readonly agent: RealAgent;
  readonly #folder: string;
  readonly #ownsEtcd: boolean;
  readonly #sandboxes = new Set<Sandbox>();

  /** A node with VPP and etcd running; the agent is not started. */
  static async create(options: NodeOptions = {}): Promise<RealNode> {
    const node = new RealNode(await Netns.create('node'), options);
    try {
      await Promise.all([node.vpp.start(), node.#ownsEtcd ? node.etcd.start() : undefined]);
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
    return node;
  }

  private constructor(netns: Netns, options: NodeOptions) {
    const label = options.label ?? 'node1';
    this.#folder = mkdtempSync(join(tmpdir(), 'real-'));
    this.netns = netns;
    const { workers, statistics, vppWrapper } = options;
    this.vpp = vppIn(netns, join(this.#folder, 'vpp'), '', workers, statistics, vppWrapper);
    this.#ownsEtcd = options.etcd === undefined;
    this.etcd = options.etcd ?? new RealEtcd(netns, join(this.#folder, 'etcd'));
    this.agent = new RealAgent(netns, join(this.#folder, 'agent'), {
      label,
      vppSocket: this.vpp.apiSocket,
      etcdEndpoint: this.etcd.endpoint,
      links: options.links,
      ...(options.etcdConfig && { etcd: options.etcdConfig }),
      ...(options.contiv && { contiv: options.contiv }),
      ...(options.controller && { controller: options.controller }),
      ...(options.service && { service: options.service }),
      ...(options.http && { http: options.http }),
      ...(options.agentFlags && { flags: options.agentFlags }),
      main: options.agentMain,
      wrapper: options.agentWrapper,
      ...(options.agentEnv && { env: options.agentEnv(this.vpp.apiSocket) }),
    });
  }

  /** A sandbox that is not attached; removed with the node. */
  async sandbox(pod: string, namespace?: string): Promise<Sandbox> {
    const sandbox = await Sandbox.create(pod, namespace);
    this.#sandboxes.add(sandbox);
    return sandbox;
  }

  /** Creates and attaches a sandbox. */
  async pod(name: string, namespace?: string): Promise<Sandbox> {
    const sandbox = await this.sandbox(name, namespace);
    await this.attach(sandbox);
    return sandbox;
  }

  /** ADD, which must succeed; stores the address in the sandbox. */
  async attach(sandbox: Sandbox, path?: string): Promise<void> {
    const reply = await this.agent.add(sandbox, path);
    assert.equal(reply.error, '', this.agent.tail());
    assert.equal(reply.result, 0);
    sandbox.address = addressIn(reply) ?? '';
    sandbox.addresses = addressesIn(reply);
  }

  /** Writes the record of a pod as the reflector does. */
  async reflect(pod: string, address: string): Promise<void> {
    const { model } = resources.pod;
    const value = model.canonical({ name: pod, namespace: 'default', ip_address: address });
    await this.etcd.store.put(podKey(pod), valueText(resources.pod, value));
  }

  async unreflect(pod: string): Promise<void> {
    await this.etcd.store.delete(podKey(pod));
  }

  /** Actual state of VPP and Linux on this node. */
  async configuration(): Promise<unknown> {
    const [vpp, host] = await Promise.all([
      this.vpp.withClient(normalizedVppState),
      linux.dump(this.netns.path),
    ]);
    return {
      vpp,
      linux: {
        links: host.links.map(({ index: _, peerIndex: __, ...link }) => ({
          ...link,
          // VPP chooses another MAC each time it creates a TAP
          mac: link.kind === 'tun' ? undefined : link.mac,
        })),
        routes: host.routes,
        neighbors: host.neighbors.filter(({ permanent }) => permanent),
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.end('SIGKILL');
    await this.vpp.kill();
    if (this.#ownsEtcd) await this.etcd.close();
    for (const sandbox of this.#sandboxes) await sandbox.remove();
    await this.netns.remove();
    // VPP_KEEP=1 keeps logs, configuration and databases for the analysis of a failure
    if (process.env['VPP_KEEP'] === undefined)
      rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function podKey(pod: string): string {
  return REFLECTOR_PREFIX + resources.pod.key(pod, 'default');
}
