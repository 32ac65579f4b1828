/**
 * Two nodes whose policies, pods, services and endpoints change at random. At every step each client reaches at each
 * address of a service exactly the backends that the policies of Kubernetes permit it, and where VPP replaces the
 * client those of docs/policies.md: in packet traces through what the agents have configured.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Pod } from '#kubernetes/models/pod.ts';
import type { Policy, PolicyPeer, PolicyPort } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { checkProperty } from '../../support/random-cases.ts';
import { type Answer, answers } from '../service/reference.ts';
import {
  type Client,
  checkAnswer,
  isAsked,
  NODES,
  nodeOf,
  type Step,
  someFirstSteps,
  someStep,
  TracedCluster,
} from '../service/traced-cluster.ts';
import { block, type Cluster, emptyCluster, pod, policy, selector } from './policy-objects.ts';
import { isPermitted, permits, type Target } from './reference.ts';

const podNames = ['a1', 'a2', 'b1', 'b2'];
const policyNames = ['n1', 'n2', 'n3'];
const natLoopbacks = { 'node-a': '10.1.1.254', 'node-b': '10.1.2.254' } as const;

const someSelector = fc.constantFrom(selector(), selector({ app: 'web' }), selector({ app: 'db' }));
const somePeer: fc.Arbitrary<DeepInput<PolicyPeer>> = fc.oneof(
  someSelector.map((pods) => ({ pods })),
  fc.constantFrom(
    block('10.1.0.0/16'),
    block('0.0.0.0/0'),
    block('0.0.0.0/0', '10.1.1.2/31'),
    block('0.0.0.0/0', '192.168.16.200/31'),
    block('192.168.16.0/24'),
    ...Object.values(natLoopbacks).map((address) => block(`${address}/32`)),
  ),
);
const somePort = fc.constantFrom<DeepInput<PolicyPort>[]>(
  {},
  { port: { number: 8080 } },
  { port: { number: 8080 }, end_port: 9091 },
  { port: { type: 'NAME', name: 'http' } },
  { protocol: 'UDP' },
  { protocol: 'UDP', port: { number: 8081 } },
);
const upToTwo = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 2 });
const somePolicy = fc
  .record({
    name: fc.constantFrom(...policyNames),
    pods: someSelector,
    policy_type: fc.constantFrom<Policy['policy_type'][]>(
      'DEFAULT',
      'INGRESS',
      'EGRESS',
      'INGRESS_AND_EGRESS',
    ),
    ingress_rule: upToTwo(fc.record({ from: upToTwo(somePeer), port: upToTwo(somePort) })),
    egress_rule: upToTwo(fc.record({ to: upToTwo(somePeer), port: upToTwo(somePort) })),
  })
  .map((input) => policy({ ...input, namespace: 'default' }));

type PolicyStep =
  | { readonly policy: string; readonly value: Policy | undefined }
  | { readonly labeled: string; readonly app: string };

const somePolicyStep: fc.Arbitrary<PolicyStep> = fc.oneof(
  { weight: 4, arbitrary: somePolicy.map((value) => ({ policy: value.name, value })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...policyNames).map((name) => ({ policy: name, value: undefined })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      labeled: fc.constantFrom(...podNames),
      app: fc.constantFrom('web', 'db'),
    }),
  },
);

class GuardedCluster {
  readonly traced: TracedCluster;
  readonly #policies = new Map<string, Policy>();
  readonly #pods = new Map<string, Pod>();
  readonly #apps = new Map(podNames.map((name, at) => [name, at % 2 === 0 ? 'web' : 'db']));

  static async start(hasSockets: boolean): Promise<GuardedCluster> {
    const cluster = new GuardedCluster(await TracedCluster.start(hasSockets));
    for (const name of podNames) await cluster.#publishPod(name);
    return cluster;
  }

  private constructor(traced: TracedCluster) {
    this.traced = traced;
  }

  async step(step: Step | PolicyStep): Promise<void> {
    if ('policy' in step) {
      const { policy: name, value } = step;
      if (value === undefined) this.#policies.delete(name);
      else this.#policies.set(name, value);
      await this.traced.publish('policy', resources.policy.key(name, 'default'), value);
    } else if ('labeled' in step) {
      this.#apps.set(step.labeled, step.app);
      await this.#publishPod(step.labeled);
    } else {
      await this.traced.step(step);
      if ('pod' in step || 'membership' in step || 'exempt' in step)
        for (const name of podNames) await this.#publishPod(name);
    }
  }

  /** Whether policies let a client reach a backend at an address of a service. */
  permits(client: Client, answer: Answer, protocol: Target['protocol'], backend: string): boolean {
    const cluster = this.#cluster();
    const target = targetOf(backend, protocol);
    if (answer.seesClient || this.traced.isSocket(client))
      return isPermitted(cluster, client.address, target);
    const own = attachedAt(cluster, client.address);
    const others = answer.backends
      .map((one) => targetOf(one, protocol))
      .filter(({ address }) => address !== client.address);
    const isDenied = others.some((one) => {
      if (own && !permits(cluster, 'egress', own, one.address, one)) return true;
      const other = attachedAt(cluster, one.address);
      const isLocal = other !== undefined && nodeOf(nameOf(other.pod)) === client.node;
      return isLocal && !permits(cluster, 'ingress', other, client.address, one);
    });
    if (isDenied) return false;
    const receiver = attachedAt(cluster, target.address);
    if (receiver === undefined || nodeOf(nameOf(receiver.pod)) === client.node) return true;
    return permits(cluster, 'ingress', receiver, natLoopbacks[client.node], target);
  }

  #cluster(): Cluster {
    return {
      ...emptyCluster,
      pods: [...this.#pods.values()],
      policies: [...this.#policies.values()],
      attachments: new Map(
        Array.from(this.traced.pods(), ([name, address]) => [
          name,
          { pod: `default/${name}`, podUid: undefined, addresses: [address] },
        ]),
      ),
    };
  }

  async #publishPod(name: string): Promise<void> {
    const address = this.traced.pods().get(name);
    const key = resources.pod.key(name, 'default');
    if (address === undefined) {
      this.#pods.delete(name);
      return this.traced.publish('pod', key, undefined);
    }
    const value = {
      ...pod({
        name,
        namespace: 'default',
        labels: { app: this.#apps.get(name) ?? '' },
        ips: [address],
        ports: ['http TCP 8080'],
      }),
      annotations: this.traced.annotationsOf(name),
    };
    this.#pods.set(name, value);
    await this.traced.publish('pod', key, value);
  }
}

function targetOf(backend: string, protocol: Target['protocol']): Target {
  const [address = '', port] = backend.split(':');
  return { address, port: Number(port), protocol };
}

function attachedAt({ attachments }: Cluster, address: string) {
  return [...attachments.values()].find(({ addresses }) => addresses.includes(address));
}

function nameOf(podName: string): string {
  return podName.split('/')[1] ?? '';
}

const ways = { 'NAT44 alone': false, 'services at sockets, too': true } as const;

for (const [way, hasSockets] of Object.entries(ways)) {
  const title = `every client reaches at every address the backends that policies permit it: ${way}`;
  test(title, async (t) => {
    const verdicts = { permitted: 0, denied: 0 };
    await checkProperty(
      { file: 'test/plugins/policy/traced-clients.test.ts', name: title },
      40,
      fc.asyncProperty(
        someFirstSteps,
        fc.array(fc.oneof(someStep, somePolicyStep), { minLength: 4, maxLength: 14 }),
        async (first, others) => {
          const cluster = await GuardedCluster.start(hasSockets);
          for (const step of first) await cluster.step(step);
          for (const step of others) {
            await cluster.step(step);
            const { traced } = cluster;
            const snapshot = traced.snapshot();
            const served = new Set(
              NODES.flatMap((node) => [...answers(traced.world(node)).keys()]),
            );
            for (const client of traced.clients()) {
              for (const key of served) {
                if (!isAsked(traced, client, key)) continue;
                const protocol = key.startsWith('UDP') ? 'UDP' : 'TCP';
                checkAnswer(traced, snapshot, client, key, (answer, backend) => {
                  const isFound = cluster.permits(client, answer, protocol, backend);
                  verdicts[isFound ? 'permitted' : 'denied']++;
                  return isFound;
                });
              }
            }
          }
        },
      ),
    );
    t.diagnostic(`${verdicts.permitted} permitted, ${verdicts.denied} denied`);
    assert.ok(verdicts.denied >= 500 || process.env['CV_PATH'] !== undefined);
  });
}
