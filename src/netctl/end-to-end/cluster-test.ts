/**
 * Pods, services and policies by real packets: pods on the nodes serve and connect, in a namespace that is removed
 * at the end, also when the user ends the test. Results are the termination messages of the pods, so nothing has to
 * reach into them.
 */
import { systemRandom } from '#infra/clock/system.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { ApiNotFoundError } from '#ksr/api-server/api-errors.ts';
import type { CommandContext } from '../command.ts';
import type { KubernetesApi } from '../nodes/kubernetes-api.ts';
import { judged } from './judged.ts';
import { type PodState, podStates, type StartedPod } from './pod-state.ts';
import type { ProbeResult } from './probe.ts';
import { failed, passed, skipped, type TestCase } from './test-case.ts';
import {
  clientObject,
  LONGEST_SECONDS,
  namespaceObject,
  policyObjects,
  type Role,
  serverObject,
  serviceObject,
  type TestPod,
  testLabel,
  testPod,
} from './test-objects.ts';
import { type PlannedProbe, probesOf, type Server, type TestServices } from './test-plan.ts';

export const TestSetupError = defineError({
  name: 'TestSetupError',
  code: 'CV_NETCTL_TEST',
  remedy:
    'netctl test --help says what the test needs; netctl status shows the state of the agents.',
});

/** Of a namespace; a test removes no other, whatever its labels are. */
const PREFIX = 'netctl-test-';
const POLL_MS = 500;
const START_LIMIT_MS = 120_000;
/** Longer than a client tries. */
const RESULT_LIMIT_MS = 90_000;
const REMOVAL_LIMIT_MS = 90_000;
const SERVERS: readonly Role[] = ['server', 'isolated'];
const CLIENTS: readonly Role[] = ['friend', 'stranger', 'caged'];

export interface ClusterTestOptions {
  readonly kubernetes: KubernetesApi;
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  /** undefined: that of the agents. */
  readonly image: string | undefined;
}

/** @throws CodedError when the pods cannot be created */
export async function testCluster(
  context: CommandContext,
  { kubernetes, nodes, image }: ClusterTestOptions,
): Promise<readonly TestCase[]> {
  await removeOldNamespaces(context, kubernetes);
  const name = `${PREFIX}${Buffer.from(systemRandom.bytes(4)).toString('hex')}`;
  const test = new ClusterTest(context, kubernetes, name, nodes);
  try {
    return await test.run(image ?? (await imageOfAgents(kubernetes, context.signal)));
  } finally {
    await test.remove();
  }
}

class ClusterTest {
  readonly #context: CommandContext;
  readonly #api: KubernetesApi;
  readonly #name: string;
  readonly #path: string;
  readonly #nodes: readonly string[];

  constructor(context: CommandContext, api: KubernetesApi, name: string, nodes: readonly string[]) {
    this.#context = context;
    this.#api = api;
    this.#name = name;
    this.#path = `/api/v1/namespaces/${name}`;
    this.#nodes = nodes;
  }

  async run(image: string): Promise<readonly TestCase[]> {
    const { signal } = this.#context;
    this.#context.progress(`creating pods in the namespace ${this.#name}`);
    await this.#api.create('/api/v1/namespaces', namespaceObject(this.#name), signal);
    // Before the pods: no packet of theirs is forwarded without them.
    for (const policy of policyObjects)
      await this.#api.create(
        `/apis/networking.k8s.io/v1/namespaces/${this.#name}/networkpolicies`,
        policy,
        signal,
      );
    const services = await this.#createServices();
    const pods = SERVERS.flatMap((role) => this.#nodes.map((node, at) => testPod(role, node, at)));
    for (const pod of pods)
      await this.#api.create(`${this.#path}/pods`, serverObject(pod, image), signal);
    const { servers, cases: starts } = await this.#started(pods);
    const probes = await this.#probe(image, servers, services);
    const dns =
      services.dnsName === undefined
        ? [skipped('service by its name', 'no service kube-system/kube-dns', '')]
        : [];
    return [...starts, ...probes, ...dns];
  }

  async #createServices(): Promise<TestServices> {
    const { signal } = this.#context;
    const create = async (role: Role): Promise<string> => {
      const made = await this.#api.create<{ readonly spec: { readonly clusterIP: string } }>(
        `${this.#path}/services`,
        serviceObject(role),
        signal,
      );
      return made.spec.clusterIP;
    };
    const [server, isolated] = [await create('server'), await create('isolated')];
    const hasDns = await this.#api
      .get('/api/v1/namespaces/kube-system/services/kube-dns', signal)
      .then(
        () => true,
        () => false,
      );
    return { server, isolated, dnsName: hasDns ? `server.${this.#name}.svc` : undefined };
  }

  /** Waits for the servers; those that do not start are failed cases, and the others are used. */
  async #started(
    pods: readonly TestPod[],
  ): Promise<{ servers: readonly Server[]; cases: readonly TestCase[] }> {
    const { clock } = this.#context;
    const start = clock.monotonic();
    const readyAfter = new Map<string, number>();
    const states = await this.#until(START_LIMIT_MS, 'pods are ready', (found) => {
      for (const { name } of pods)
        if (found.get(name)?.address !== undefined && !readyAfter.has(name))
          readyAfter.set(name, clock.monotonic() - start);
      return { done: readyAfter.size, of: pods.length };
    });
    const servers: Server[] = [];
    const cases: TestCase[] = [];
    for (const pod of pods) {
      const state = states.get(pod.name);
      const ms = readyAfter.get(pod.name);
      if (state?.address !== undefined && ms !== undefined) {
        servers.push({ ...pod, address: state.address });
        cases.push(passed('pod starts', pod.node, '', `ready after ${(ms / 1000).toFixed(1)} s`));
      } else cases.push(await this.#startFailure(pod, state));
    }
    return { servers, cases };
  }

  async #startFailure({ name, node }: TestPod, state: PodState | undefined): Promise<TestCase> {
    const selection = { fieldSelector: `involvedObject.name=${name},type=Warning` };
    let last = '';
    for await (const { message = '' } of this.#api.list<{ readonly message?: string }>(
      `${this.#path}/events`,
      this.#context.signal,
      selection,
    ))
      last = message;
    const found = [state?.reason ?? 'not ready', last].filter((text) => text !== '').join(': ');
    const remedy = `netctl status ${node}. A pod without an image: --image names one that has netctl, such as that of the agents of this release.`;
    return failed('pod starts', node, '', found, remedy);
  }

  async #probe(
    image: string,
    servers: readonly Server[],
    services: TestServices,
  ): Promise<readonly TestCase[]> {
    const { signal } = this.#context;
    const tested = this.#nodes.filter((node) => servers.some((one) => one.node === node));
    const clients: { pod: TestPod; planned: readonly PlannedProbe[] }[] = [];
    for (const role of CLIENTS)
      for (const [at, node] of tested.entries()) {
        const pod = testPod(role, node, at);
        const planned = probesOf(role, node, tested, servers, services);
        clients.push({ pod, planned });
        const probes = planned.map(({ probe }) => probe);
        await this.#api.create(`${this.#path}/pods`, clientObject(pod, image, probes), signal);
      }
    const states = await this.#until(RESULT_LIMIT_MS, 'clients have ended', (found) => ({
      done: clients.filter(({ pod }) => found.get(pod.name)?.message !== undefined).length,
      of: clients.length,
    }));
    return clients.flatMap(({ pod, planned }) => {
      const results = resultsOf(states.get(pod.name)?.message);
      return planned.map((one, at) => judged(pod.node, one, results[at]));
    });
  }

  /** @returns the pods of the namespace, when all are as awaited or the time is over */
  async #until(
    limitMs: number,
    what: string,
    count: (found: ReadonlyMap<string, PodState>) => { done: number; of: number },
  ): Promise<ReadonlyMap<string, PodState>> {
    const { clock, signal, progress } = this.#context;
    const end = clock.monotonic() + limitMs;
    for (;;) {
      const found = await podStates(this.#api, this.#path, signal);
      const { done, of } = count(found);
      progress(`${done} of ${of} ${what}`);
      if (done >= of || clock.monotonic() >= end) return found;
      await clock.sleep(POLL_MS, signal);
    }
  }

  /** Also after the user has ended the test. The controllers of Kubernetes remove what is in the namespace. */
  async remove(): Promise<void> {
    const { clock, progress, warn } = this.#context;
    const unlimited = new AbortController().signal;
    progress(`removing the namespace ${this.#name}`);
    try {
      await this.#api.delete(this.#path, unlimited);
      const end = clock.monotonic() + REMOVAL_LIMIT_MS;
      while (clock.monotonic() < end) {
        await this.#api.get(this.#path, unlimited);
        await clock.sleep(POLL_MS);
      }
      warn(`The namespace ${this.#name} is still being removed.`);
    } catch (thrown) {
      if (!isNotFound(thrown))
        warn(`${errorText(thrown)}. Remove it: kubectl delete namespace ${this.#name}`);
    } finally {
      progress('');
    }
  }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof ApiNotFoundError;
}

/** Those of tests that were killed. */
async function removeOldNamespaces(
  { clock, signal }: CommandContext,
  api: KubernetesApi,
): Promise<void> {
  const selection = { labelSelector: `${testLabel.name}=${testLabel.value}` };
  interface Namespace {
    readonly metadata?: { readonly name?: string; readonly creationTimestamp?: string };
  }
  for await (const { metadata } of api.list<Namespace>('/api/v1/namespaces', signal, selection)) {
    const age = clock.wallTime() - Date.parse(metadata?.creationTimestamp ?? '');
    if (metadata?.name?.startsWith(PREFIX) && age > LONGEST_SECONDS * 1000)
      await api.delete(`/api/v1/namespaces/${metadata.name}`, signal);
  }
}

/** It is on all nodes already, and has netctl. */
async function imageOfAgents(api: KubernetesApi, signal: AbortSignal): Promise<string> {
  const selection = { labelSelector: 'k8s-app=contiv-vswitch' };
  for await (const { spec } of api.list<StartedPod>('/api/v1/pods', signal, selection)) {
    const agent = spec?.containers?.find(({ name }) => name === 'contiv-agent');
    if (agent?.image !== undefined) return agent.image;
  }
  throw new TestSetupError(
    'no pod with the label k8s-app=contiv-vswitch: name the image of the test with --image',
  );
}

function resultsOf(message: string | undefined): readonly ProbeResult[] {
  try {
    const parsed: unknown = JSON.parse(message ?? '');
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
