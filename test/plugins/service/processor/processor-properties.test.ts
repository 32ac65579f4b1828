/**
 * Services, endpoints and the node change at random. After every step the incremental state of the
 * processor equals that of a resync, and what Kubernetes says.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { LocalNode } from '#plugins/service/processor/local-node.ts';
import { ServiceProcessor } from '#plugins/service/processor/service-processor.ts';
import type { RenderedService } from '#plugins/service/rendered-service.ts';
import { checkProperty } from '../../../support/random-cases.ts';
import {
  type AddressPlan,
  ipv4,
  ipv4First,
  ipv6,
  ipv6First,
  serviceIn,
  slicesIn,
} from '../address-plan.ts';
import { someEndpoints, someName, someService } from '../random-objects.ts';
import { type Answer, answers, type World } from '../reference.ts';
import { localNode, problemsOf, recordsOf, service } from '../service-objects.ts';
import { someFamilies } from '../traced-cluster.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const someStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      set: fc.constant('service' as const),
      name: someName,
      input: someService,
      families: someFamilies,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      set: fc.constant('endpoints' as const),
      name: someName,
      input: someEndpoints('10.1.1.2', '10.1.1.3', '10.1.2.2', '10.1.3.2', '172.16.0.5'),
      families: someFamilies,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      drop: fc.constantFrom('service' as const, 'endpoints' as const),
      name: someName,
    }),
  },
  { weight: 1, arbitrary: fc.record({ zone: fc.constantFrom('', 'north', 'south') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      otherNode: fc.constantFrom('node-b', 'node-c'),
      hosts: fc.subarray(['172.16.0.5', '172.16.0.6', 'fd09::5']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      addresses: fc.subarray(['192.168.16.1', '10.20.0.1', '198.51.100.8', 'fd00::1', 'fd03::1']),
    }),
  },
);

/** The world, with one processor that follows it. */
class Cluster {
  readonly #plan: AddressPlan;
  readonly world: Mutable<World>;
  node: LocalNode;
  processor!: ServiceProcessor;
  readonly slices = new Slices(new ManualClock());
  /** As a renderer learns it, by changes alone. */
  readonly learned = new Map<string, RenderedService>();
  readonly learnedProblems = new Map<string, readonly string[]>();

  constructor(plan: AddressPlan) {
    const { families, isForbidden } = plan;
    const ofFamily = (four: string, six: string) =>
      families.map((family) => (family === 4 ? four : six));
    const podSubnets = ofFamily('10.1.0.0/16', 'fd01::/48');
    this.#plan = plan;
    this.node = {
      ...localNode,
      families,
      familiesOutside: families,
      podSubnets,
      ownPodSubnets: ofFamily('10.1.1.0/24', 'fd01:0:0:1::/64'),
      addresses: ofFamily('192.168.16.1', 'fd03::1'),
      network: { ...localNode.network, subnets: { 'pod subnet': podSubnets } },
    };
    this.world = {
      services: [],
      slices: [],
      families,
      node: {
        name: 'node-a',
        zone: 'north',
        addresses: this.node.addresses,
        podRanges: plan.podRanges(1),
      },
      otherNodes: [],
      isForbidden,
    };
  }

  static async start(plan: AddressPlan): Promise<Cluster> {
    const cluster = new Cluster(plan);
    cluster.processor = await cluster.read();
    return cluster;
  }

  /** A processor that has read the present records. */
  read(): Promise<ServiceProcessor> {
    return ServiceProcessor.read(this.records(), this.node, this.slices);
  }

  async step(step: typeof someStep extends fc.Arbitrary<infer T> ? T : never): Promise<void> {
    const { world } = this;
    const isOther = (name: string) => (one: { metadata: { name: string } }) =>
      !one.metadata.name.startsWith(name);
    if ('zone' in step) {
      world.node = { ...world.node, zone: step.zone };
      await this.#change('node', resources.node.key('node-a', ''), this.#nodeRecord());
      return;
    }
    if ('otherNode' in step) {
      const node = {
        name: step.otherNode,
        routedAddresses: step.hosts,
        addresses: step.hosts,
        nodePortAddresses: step.hosts,
      };
      const others = [...this.node.otherNodes].filter(({ name }) => name !== node.name);
      this.node = { ...this.node, otherNodes: [...others, node] };
      this.#learn(await this.processor.setOtherNodes([node], this.slices));
      return;
    }
    if ('addresses' in step) {
      this.node = { ...this.node, addresses: step.addresses };
      world.node = {
        ...world.node,
        addresses: step.addresses.filter((one) =>
          world.families.includes(one.includes(':') ? 6 : 4),
        ),
      };
      this.#learn(await this.processor.setNode(this.node, this.slices));
      return;
    }
    const { name } = step;
    const resource = 'set' in step ? step.set : step.drop;
    if (resource === 'service') {
      world.services = world.services.filter(isOther(name));
      if ('set' in step && step.set === 'service') {
        const input = serviceIn(this.#plan, step.input, step.families);
        world.services = [
          ...world.services,
          service({ name, ...input, clusterIP: input.clusterIPs[0] ?? '' }),
        ];
      }
    } else {
      world.slices = world.slices.filter(isOther(name));
      if ('set' in step && step.set === 'endpoints')
        world.slices = [...world.slices, ...slicesIn(this.#plan, name, step.input, step.families)];
    }
    const key = resources[resource].key(name, 'shop');
    await this.#change(resource, key, this.records().get(resource)?.get(key));
  }

  records() {
    const records = recordsOf(this.world.services, this.world.slices);
    return records.set('node', new Map([[resources.node.key('node-a', ''), this.#nodeRecord()]]));
  }

  #nodeRecord() {
    return nodeModel.canonical({ name: 'node-a', zone: this.world.node.zone });
  }

  async #change(resource: string, key: string, current: object | undefined): Promise<void> {
    this.#learn(await this.processor.change({ resource, key, current }, this.slices));
  }

  #learn(change: Awaited<ReturnType<ServiceProcessor['change']>>): void {
    for (const [name, rendered] of change.services) {
      if (rendered === undefined) assert.ok(this.learned.delete(name), `${name} was not rendered`);
      else this.learned.set(name, rendered);
    }
    for (const [name, problems] of change.problems) {
      if (problems.length === 0) this.learnedProblems.delete(name);
      else this.learnedProblems.set(name, problems);
    }
  }
}

function answersOf(rendered: Iterable<RenderedService>): Map<string, Answer> {
  const found = new Map<string, Answer>();
  for (const { name, addresses } of rendered) {
    for (const {
      address,
      port,
      protocol,
      backends,
      replacesClient,
      affinityTimeout,
      clients,
    } of addresses) {
      const key = `${protocol} ${address} ${port}`;
      assert.ok(!found.has(key), `${key} is rendered twice`);
      found.set(key, {
        service: name,
        backends: backends.map((one) => `${one.address}:${one.port}`).sort(),
        seesClient: !replacesClient,
        affinity: affinityTimeout,
        ranges: clients?.ranges,
      });
    }
  }
  return found;
}

const sorted = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));

const somePlan = fc.constantFrom(ipv4, ipv6, ipv4First, ipv6First);

const TITLE = 'after every change the state equals that of a resync, and what Kubernetes says';
test(TITLE, async () => {
  await checkProperty(
    { file: 'test/plugins/service/processor/processor-properties.test.ts', name: TITLE },
    400,
    fc.asyncProperty(
      somePlan,
      fc.array(someStep, { minLength: 1, maxLength: 25 }),
      async (plan, steps) => {
        const cluster = await Cluster.start(plan);
        for (const step of steps) {
          await cluster.step(step);
          const { processor, world } = cluster;
          const fresh = await cluster.read();

          assert.deepEqual(
            sorted(answersOf(processor.rendered().values())),
            sorted(answers(world)),
          );
          assert.deepEqual(sorted(processor.rendered()), sorted(fresh.rendered()));
          assert.deepEqual(sorted(cluster.learned), sorted(fresh.rendered()));
          assert.deepEqual(sorted(problemsOf(processor)), sorted(problemsOf(fresh)));
          assert.deepEqual(sorted(cluster.learnedProblems), sorted(problemsOf(fresh)));
          assert.deepEqual(sorted(processor.healthChecks()), sorted(fresh.healthChecks()));
          for (const name of fresh.names()) assertDescribed(fresh, name);
        }
      },
    ),
  );
});

/** The description shows as used what is rendered, and a reason for everything else. */
function assertDescribed(processor: ServiceProcessor, name: string): void {
  const description = processor.describe(name);
  const addresses = processor.rendered().get(name)?.addresses ?? [];
  const shown = description?.addresses.filter((one) => one.whyNotRendered === undefined) ?? [];
  assert.deepEqual(
    shown.map(({ address, port, protocol, backends }) => [
      address,
      port,
      protocol,
      backends.filter((one) => one.whyNotUsed === undefined).map((one) => [one.address, one.port]),
    ]),
    addresses.map(({ address, port, protocol, backends }) => [
      address,
      port,
      protocol,
      backends.map((one) => [one.address, one.port]),
    ]),
  );
}
