/**
 * The part of kubelet for the pods of a namespace on the nodes of a `KubernetesCluster`: it attaches them, runs the
 * command of their container in their network, and reports their status and their termination message.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '#infra/errors/errors.ts';

import { KubeApiError } from './kube-client.ts';
import type { KubernetesCluster } from './kubernetes-cluster.ts';
import { enter } from './netns.ts';
import { Sandbox } from './sandbox.ts';

const POLL_MS = 200;

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly args: readonly string[];
      readonly terminationMessagePath?: string;
    }[];
  };
}

interface Run {
  readonly node: string;
  readonly sandbox: Sandbox;
  readonly child: ChildProcess;
}

export class PodRunner implements AsyncDisposable {
  readonly #cluster: KubernetesCluster;
  readonly #isOurs: (namespace: string) => boolean;
  readonly #path: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'pod-runner-'));
  readonly #runs = new Map<string, Promise<Run>>();
  readonly #loop: Promise<void>;
  #isEnded = false;
  /** Of what failed, for the message of a test. */
  readonly problems: string[] = [];

  /** @param path of the programs of the container, as in the variable */
  constructor(cluster: KubernetesCluster, isOurs: (namespace: string) => boolean, path: string) {
    this.#cluster = cluster;
    this.#isOurs = isOurs;
    this.#path = path;
    this.#loop = this.#watch();
  }

  get running(): number {
    return this.#runs.size;
  }

  async #watch(): Promise<void> {
    using client = this.#cluster.apiServer.client();
    while (!this.#isEnded) {
      const pods = (await client.list<Pod>('/api/v1/pods')).filter(({ metadata }) =>
        this.#isOurs(metadata.namespace),
      );
      const keys = new Set(pods.map(keyOf));
      for (const pod of pods) {
        const key = keyOf(pod);
        if (pod.metadata.deletionTimestamp !== undefined) {
          await this.#end(key);
          // Its containers have ended: kubelet lets the object go.
          await client.delete(pathOf(pod)).catch(unlessGone);
        } else if (!this.#runs.has(key)) this.#runs.set(key, this.#start(pod));
      }
      for (const key of this.#runs.keys()) if (!keys.has(key)) await this.#end(key);
      await sleep(POLL_MS);
    }
  }

  async #start(pod: Pod): Promise<Run> {
    const { name, namespace } = pod.metadata;
    const node = pod.spec.nodeName ?? '';
    const { command, args } = pod.spec.containers[0]!;
    const sandbox = await Sandbox.create(name, namespace);
    const address = await this.#cluster.attach(this.#cluster.node(node), sandbox);
    const message = join(this.#folder, `${namespace}-${name}`);
    writeFileSync(message, '');
    const own = args.map((arg) => (arg === '/dev/termination-log' ? message : arg));
    const [program = '', ...words] = [...enter(sandbox.path), ...command, ...own];
    const child = spawn(program, words, {
      env: { ...process.env, PATH: `${this.#path}:${process.env['PATH']}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.on('data', (text) => this.problems.push(`${name}: ${text}`));
    const isReady = words.includes('serve');
    const running = { podIP: address, podIPs: [{ ip: address }], phase: 'Running' };
    await this.#report(pod, { ...running, conditions: conditions(isReady) });
    child.on('exit', (code) => {
      const terminated = { exitCode: code ?? 1, message: readFileSync(message, 'utf8') };
      const container = { name: 'main', image: 'none', imageID: '', ready: false, restartCount: 0 };
      void this.#report(pod, {
        phase: code === 0 ? 'Succeeded' : 'Failed',
        containerStatuses: [{ ...container, state: { terminated } }],
      });
    });
    return { node, sandbox, child };
  }

  async #report(pod: Pod, status: object): Promise<void> {
    using client = this.#cluster.apiServer.client();
    const host = this.#cluster.node(pod.spec.nodeName ?? '').host.address;
    try {
      await client.patch(`${pathOf(pod)}/status`, { status: { hostIP: host, ...status } });
    } catch (thrown) {
      if (this.#runs.has(keyOf(pod))) this.problems.push(errorText(thrown));
    }
  }

  async #end(key: string): Promise<void> {
    const run = await this.#runs.get(key);
    this.#runs.delete(key);
    if (run === undefined) return;
    run.child.kill('SIGKILL');
    await this.#cluster.detach(this.#cluster.node(run.node), run.sandbox);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    await this.#loop;
    for (const key of [...this.#runs.keys()]) await this.#end(key);
    rmSync(this.#folder, { recursive: true });
  }
}

function keyOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function pathOf({ metadata }: Pod): string {
  return `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
}

/** @throws unless the object did not exist */
function unlessGone(thrown: unknown): void {
  if (!(thrown instanceof KubeApiError) || thrown.status !== 404) throw thrown;
}

function conditions(isReady: boolean): readonly object[] {
  return ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
    type,
    status: isReady ? 'True' : 'False',
  }));
}
