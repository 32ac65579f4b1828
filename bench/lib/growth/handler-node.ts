/** The event loop with all event handlers, without a southbound. */
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, type KubeSnapshot, KubeStateChange } from '#plugins/controller/api/events.ts';
import { controllerSchema } from '#plugins/controller/config.ts';
import { Controller } from '#plugins/controller/controller.ts';
import { AddPod } from '#plugins/podmanager/api.ts';
import { fakeVppWithNics } from '#test/plugins/ipv4net/vpp-with.ts';
import { type KubeValue, nodeValue, TestNode } from '#test/plugins/test-node.ts';

const YAML = `
mtuSize: 1400
ipamConfig:
  nodeInterconnectCIDR: 192.168.16.0/24
  podSubnetCIDR: 10.64.0.0/10
  podSubnetOneNodePrefixLen: 24
`;

const own = nodeValue('node1', '172.16.0.1');

export class HandlerNode implements AsyncDisposable {
  readonly #handlers = new TestNode({ name: 'node1', vpp: fakeVppWithNics('Gig1'), yaml: YAML });
  readonly #controller: Controller;
  #processed = Promise.withResolvers<void>();

  constructor() {
    this.#controller = new Controller({
      config: parseConfig(controllerSchema, '', 'bench').value,
      handlers: this.#handlers.handlers,
      desired: this.#handlers.desired,
      sink: {
        commit: async () => ({ seqNum: 0, failures: [] }),
        record: () => undefined,
      },
      merge: (_key, _base, over) => over,
      southboundGeneration: () => 1,
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
      handlerLog: () => silentLogger,
      reportState: () => undefined,
      print: () => undefined,
      onProcessed: ({ error }) => {
        if (error) this.#processed.reject(error);
        else this.#processed.resolve();
      },
    });
    this.#controller.start();
  }

  /** The first event: a resync with these records. */
  start(records: readonly KubeValue[]): Promise<void> {
    const kubeState: Record<string, Record<string, object>> = {};
    for (const { resource, key, value } of [own, ...records]) {
      kubeState[resource] ??= {};
      kubeState[resource][key] = value;
    }
    const snapshot: KubeSnapshot = kubeState;
    return this.#process(
      DbResync.event({ local: false, kubeState: snapshot, externalConfig: {} }) as Event,
    );
  }

  /** A record of Kubernetes appears or changes. */
  change({ resource, key, value }: KubeValue): Promise<void> {
    const previous = this.#controller.kubeState.get(resource)?.get(key);
    return this.#process(
      KubeStateChange.event({ resource, key, previous, current: value }) as Event,
    );
  }

  /** A record of Kubernetes is deleted. */
  remove({ resource, key, value }: KubeValue): Promise<void> {
    return this.#process(
      KubeStateChange.event({ resource, key, previous: value, current: undefined }) as Event,
    );
  }

  async attach(namespace: string, name: string, number: number): Promise<void> {
    const containerId = number.toString(16).padStart(8, '0').padEnd(64, '0');
    const networkNamespace = `/run/netns/${number}`;
    this.#handlers.host.namespaces.set(networkNamespace, number + 1);
    await this.#controller.pushAndWait(
      AddPod.event({
        pod: { namespace, name },
        containerId,
        interfaceName: 'eth0',
        networkNamespace,
        ipamType: '',
        ipamData: '',
      }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#controller.close({ cleanup: false });
  }

  async #process(event: Event): Promise<void> {
    this.#processed = Promise.withResolvers();
    this.#controller.push(event);
    await this.#processed.promise;
  }
}
