/**
 * The checklist "Adding a descriptor" of CONTRIBUTING.md: whatever was forgotten for a descriptor
 * fails here, under the name of the descriptor and with the file to complete.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { LinuxHost } from '#linux/api.ts';
import { modelOfKey } from '#models/registry.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimDhcpServer } from '#simulator/vpp/dhcp.ts';
import { startProcess } from '#simulator/vpp/vpp-process.ts';
import { descriptorOf } from '#test/descriptors/compliance/driver.ts';
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import type { Backend, Example } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { type Observations, observeDescriptors } from '#test/descriptors/observed-descriptors.ts';
import { linuxFamilies } from '#test/descriptors/transitions/families/linux.ts';
import { writtenFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import type { Family } from '#test/descriptors/transitions/family.ts';
import { anyCall } from '#test/integration/kernel/random-calls.ts';
import { DIFFERENTIALS } from '#test/integration/vpp/differential/all.ts';
import {
  EXISTING_LINK,
  simulatedLinux,
  simulatedSpaces,
  withHostLinkStub,
} from '#test/linux/descriptors/backends.ts';
import { hostLinks, simulatedVpp } from '#test/vpp/descriptors/backends.ts';
import { startSim } from '#test/vpp/descriptors/simulated-vpp.ts';

interface Southbound {
  readonly name: string;
  readonly prefix: string;
  start(): Promise<Backend>;
  readonly examples: readonly Example[];
  readonly families: readonly Family[];
  readonly files: {
    readonly descriptors: string;
    readonly examples: string;
    readonly families: string;
    readonly state: string;
  };
}

const SOUTHBOUNDS: readonly Southbound[] = [
  {
    name: 'VPP',
    prefix: 'vpp-',
    start: simulatedVpp,
    examples: vppExamples(hostLinks),
    families: writtenFamilies,
    files: {
      descriptors: 'src/vpp/descriptors/vpp-descriptors.ts',
      examples: 'test/descriptors/compliance/vpp-examples.ts',
      families: 'test/descriptors/transitions/families/vpp.ts',
      state: 'test/descriptors/compliance/vpp-state.ts',
    },
  },
  {
    name: 'Linux',
    prefix: 'linux-',
    start: async () => withHostLinkStub(await simulatedLinux()),
    examples: linuxExamples(simulatedSpaces.pods, EXISTING_LINK),
    families: linuxFamilies(simulatedSpaces.pods),
    files: {
      descriptors: 'src/linux/descriptors/linux-descriptors.ts',
      examples: 'test/descriptors/compliance/linux-examples.ts',
      families: 'test/descriptors/transitions/families/linux.ts',
      state: 'test/linux/descriptors/backends.ts',
    },
  },
];

/** Cells of the table below a heading, row by row. */
function tableRows(file: string, heading: string): readonly (readonly string[])[] {
  const [, section = ''] = readFileSync(file, 'utf8').split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

/** Names in backticks. */
function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
}

/** Names in the first cells of the table below a heading. */
function documented(file: string, heading: string): ReadonlySet<string> {
  return new Set(tableRows(file, heading).flatMap(([cell = '']) => quoted(cell)));
}

/** Descriptors whose validation has cases: `assertRejected('<name>', …)`. */
const validated = new Set(
  globSync('test/{vpp,linux}/descriptors/*.test.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/assertRejected\(\s*'([\w-]+)'/g)].map(
      ([, name]) => name!,
    ),
  ),
);

/** Descriptors of the values, and of all that is derived from them. */
function descriptorsOf(
  descriptors: readonly AnyDescriptor[],
  values: readonly { readonly key: string; readonly value: object }[],
): ReadonlySet<string> {
  const owners = values.flatMap(({ key, value }) => {
    const owner = descriptorOf(descriptors, key);
    const derived = owner?.derived?.(key, value) ?? [];
    return [owner, ...derived.map((each) => descriptorOf(descriptors, each.key))];
  });
  return new Set(owners.flatMap((owner) => owner?.name ?? []));
}

/** The messages of a differential suite. */
interface Compared {
  /** Names of the messages that it sends at random or reads its state with. */
  readonly names: ReadonlySet<string>;
  /** Path of the file to add messages to. */
  readonly source: string;
}

/** @returns by path of the suite */
async function comparedMessages(): Promise<ReadonlyMap<string, Compared>> {
  const compared = new Map<string, Compared>();
  for (const { file, source, generators, stateOf } of DIFFERENTIALS) {
    const sim = await startSim();
    const names = new Set<string>(generators.map(({ name }) => name));
    const { client } = sim;
    await stateOf({
      ...client,
      has: (name) => client.has(name),
      request: (name, fields) => {
        names.add(name);
        return client.request(name, fields);
      },
      dump: (name, fields) => {
        names.add(name);
        return client.dump(name, fields);
      },
    } as typeof client);
    await sim.stop();
    compared.set(file, { names, source });
  }
  return compared;
}

/** Names of the calls that the differential suite of the kernel makes. */
async function comparedCalls(): Promise<Compared> {
  const names = new Set<string>();
  const host = new Proxy({} as LinuxHost, {
    get: (_target, name) => async () => void names.add(String(name)),
  });
  for (const { run } of fc.sample(anyCall, { numRuns: 500, seed: 1 })) await run(host, ['a', 'b']);
  return { names, source: 'test/integration/kernel/random-calls.ts' };
}

/** In a VPP without workers the main thread serves every queue, whatever is configured. */
const withoutEffect: ReadonlySet<string> = new Set(['vpp-interface-rx-placement']);

const DIFFERENTIAL_SOURCES = 'test/integration/vpp/differential/*-messages.ts';
/** VPP's list of the sources of routes, which no message changes; commands are compared by the suite of NAT44. */
const constant: ReadonlySet<string> = new Set(['fib_source_dump', 'cli_inband']);

const KERNEL_SUITE = 'test/integration/kernel/differential.test.ts';

for (const { name: title, prefix, start, examples, families, files } of SOUTHBOUNDS)
  describe(`descriptors of ${title}`, async () => {
    const backend = await start();
    const descriptors = backend.descriptors();
    const registered = descriptors.filter(({ name }) => name.startsWith(prefix));
    let observed: Observations;
    let compared: ReadonlyMap<string, Compared>;

    before(async () => {
      observed = await observeDescriptors(backend, examples);
      compared = new Map([...(await comparedMessages()), [KERNEL_SUITE, await comparedCalls()]]);
    });
    after(() => backend.stop());

    const owned = documented('docs/ownership.md', title);
    const claimed = documented('docs/ownership.md', 'Claims');
    const simulated = documented('docs/simulation.md', 'Compared by descriptor');
    const inFamilies = descriptorsOf(
      descriptors,
      families.flatMap(({ key, configurations }) =>
        configurations.map(({ value }) => ({ key, value })),
      ),
    );

    test('own the keys of all examples', () => {
      const missing = observed.withoutDescriptor.map(
        (example) => `example ${example}: no descriptor: add its factory to ${files.descriptors}`,
      );
      assert.deepEqual(missing, []);
    });

    for (const { name, nbKeyPrefix, create, update, retrieve, validate, claims } of registered)
      describe(name, () => {
        const observation = () => observed.byDescriptor.get(name);

        testIf(nbKeyPrefix, 'has a model', () => {
          const missing = `${nbKeyPrefix}: add its model to src/models/registry.ts`;
          assert.equal(modelOfKey(nbKeyPrefix!)?.keyPrefix, nbKeyPrefix, missing);
        });

        test('has a row in docs/ownership.md', () => {
          assert.ok(owned.has(name), `add a row for ${name} to "${title}" of docs/ownership.md`);
        });

        testIf(claims, 'has a row for its claims in docs/ownership.md', () => {
          assert.ok(claimed.has(name), `add a row for ${name} to "Claims" of docs/ownership.md`);
        });

        testIf(validate, 'has invalid values that it rejects', () => {
          const missing = `call assertRejected('${name}', …) in test/${title.toLowerCase()}/descriptors`;
          assert.ok(validated.has(name), missing);
        });

        // a descriptor without create reports what the southbound does by itself
        testIf(create, 'has examples in the compliance suite', () => {
          const missing = `add an example of ${name} to ${files.examples}`;
          assert.ok(observation()?.isCreated, missing);
        });

        test('carries out its examples', () => {
          assert.deepEqual(observation()?.failures ?? [], []);
        });

        testIf(update, 'has an example that changes in place', () => {
          const missing = `add an example of ${name} with a change in place to ${files.examples}`;
          assert.ok(observation()?.isUpdated, missing);
        });

        testIf(create, 'is shown by the state that the suites compare', () => {
          const { requests = new Set(), isShown = false } = observation() ?? {};
          const missing = `read what ${name} configures in ${files.state}`;
          // what requests nothing changes nothing
          assert.ok(isShown || requests.size === 0 || withoutEffect.has(name), missing);
        });

        testIf(create, 'has transitions', () => {
          assert.ok(inFamilies.has(name), `add a family of ${name} to ${files.families}`);
        });

        testIf(create, 'has a note in docs/simulation.md', () => {
          if (observation()?.requests.size === 0) return;
          const missing = `add a row for ${name} to "Compared by descriptor" of docs/simulation.md`;
          assert.ok(simulated.has(name), missing);
        });

        testIf(create, 'sends only requests that a differential suite sends too', () => {
          const suites = suitesOf(name, compared);
          const missing = notSent(observation()?.requests, suites);
          assert.deepEqual(missing, [], `add generators to ${sourcesOf(suites)}`);
        });

        testIf(retrieve, 'retrieves only what a differential suite reads too', () => {
          const missing = notSent(observation()?.reads, [...compared.values()]);
          const sources = sourcesOf(suitesOf(name, compared));
          assert.deepEqual(
            missing.filter((each) => !constant.has(each)),
            [],
            `read the state in \`stateOf\` of ${sources}`,
          );
        });
      });
  });

/** Declares a test of descriptors that have the operation. */
function testIf(operation: unknown, name: string, run: () => void): void {
  if (operation !== undefined) test(name, run);
}

/** The suites that docs/simulation.md names for the descriptor. */
function suitesOf(
  descriptor: string,
  compared: ReadonlyMap<string, Compared>,
): readonly Compared[] {
  return tableRows('docs/simulation.md', 'Compared by descriptor')
    .filter(([names = '']) => quoted(names).includes(descriptor))
    .flatMap(([, suites = '']) => quoted(suites).flatMap((file) => compared.get(file) ?? []));
}

function sourcesOf(suites: readonly Compared[]): string {
  return suites.map(({ source }) => source).join(', ') || DIFFERENTIAL_SOURCES;
}

function notSent(messages: Iterable<string> = [], suites: readonly Compared[]): string[] {
  return [...messages].filter((each) => !suites.some(({ names }) => names.has(each)));
}

describe('messages that the simulated VPP answers', () => {
  /** The client's own, which have suites in test/vpp/binapi; the replies contain no configuration. */
  const OF_THE_CLIENT = [
    'control_ping',
    'show_version',
    'cli_inband',
    'want_interface_events',
    'acl_plugin_get_conn_table_max_entries',
  ];

  test('are sent by a differential suite', async () => {
    const compared = [...(await comparedMessages()).values()].flatMap(({ names }) => [...names]);
    const sent = new Set([...compared, ...OF_THE_CLIENT]);
    const { handlerGroups } = startProcess({
      host: new SimLinux(seededRandom(1)),
      clock: new ManualClock(),
      random: seededRandom(1),
      dhcpServer: new SimDhcpServer(),
      crash: () => undefined,
    });
    const answered = handlerGroups.flatMap(({ requests }) => Object.keys(requests ?? {}));
    assert.deepEqual(
      answered.filter((name) => !sent.has(name)),
      [],
      `add generators to ${DIFFERENTIAL_SOURCES}`,
    );
  });
});
