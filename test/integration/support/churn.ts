/** Pods and services that are added and deleted while the programs of their node are replaced. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceRecords, y } from '#test/services/compliance/records.ts';
import { until } from '#test/support/wait.ts';
import type { RealNode } from './node.ts';
import type { Sandbox } from './sandbox.ts';
import type { RealServiceCluster } from './service-cluster.ts';
import { ping } from './traffic.ts';

const PAUSE_MS = 200;
const SERVICES = 4;

export class Churn {
  readonly #cluster: RealServiceCluster;
  readonly #node: RealNode;
  readonly #attached: Sandbox[] = [];
  /** That kubelet wants to be deleted, and has no answer about. */
  readonly #unwanted: Sandbox[] = [];
  /** Services by their number, the last byte of their address. */
  readonly #services = new Map<number, 'present' | 'deleted'>();
  #isStopped = false;

  constructor(cluster: RealServiceCluster, node: RealNode) {
    this.#cluster = cluster;
    this.#node = node;
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    for (let round = 0; !this.#isStopped; round++) {
      await this.#changePods(round);
      await this.#changeService(round);
      await sleep(PAUSE_MS);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The node has exactly the pods and services that are wanted. @param others names of pods that did not change */
  async assertState(others: readonly string[]): Promise<void> {
    // kubelet repeats a DEL until it is answered
    for (const sandbox of this.#unwanted)
      assert.equal((await this.#node.agent.delete(sandbox)).error, '');
    assert.ok(this.#attached.length > 0);
    const { body } = await this.#node.agent.get('/contiv/v1/ipam/allocations');
    const { Pods } = body as { Pods: { PodID: { Name: string } }[] };
    assert.deepEqual(
      Pods.map(({ PodID }) => PodID.Name).sort(),
      [...others, ...this.#attached.map(({ pod }) => pod)].sort(),
    );
    for (const { address } of this.#attached) await ping(this.#cluster.sandboxOf('a'), address);
    for (const [number, wanted] of this.#services)
      await until(`service ${number} is ${wanted}`, async () => {
        const target = { address: addressOf(number), port: 80, protocol: 'TCP' } as const;
        const [answer] = await this.#cluster.connect({ pod: 'a' }, target);
        return (answer!.result === 'answered') === (wanted === 'present');
      });
  }

  /** ADD of a new pod, and in every second round DEL of an earlier one; one stays. */
  async #changePods(round: number): Promise<void> {
    const sandbox = await this.#node.sandbox(`churn-${round}`);
    const isAttached = await this.#node.attach(sandbox).then(
      () => true,
      () => false,
    );
    (isAttached ? this.#attached : this.#unwanted).push(sandbox);
    if (isAttached) await this.#node.reflect(sandbox.pod, sandbox.address);
    if (round % 2 === 0 || this.#attached.length < 2) return;
    const oldest = this.#attached.shift()!;
    await this.#node.unreflect(oldest.pod);
    const reply = await this.#node.agent.delete(oldest).catch(() => undefined);
    if (reply?.error !== '') this.#unwanted.push(oldest);
  }

  async #changeService(round: number): Promise<void> {
    const number = 10 + (round % SERVICES);
    const name = `churn-${number}`;
    const state = this.#services.get(number) === 'present' ? 'deleted' : 'present';
    this.#services.set(number, state);
    const present = serviceRecords(this.#cluster, name, {
      cluster_ip: addressOf(number),
      ports: [{ port: 80, target: 8080 }],
      backends: [y],
    });
    await this.#cluster.announce(state === 'present' ? present : { name });
  }
}

function addressOf(service: number): string {
  return `10.96.9.${service}`;
}
