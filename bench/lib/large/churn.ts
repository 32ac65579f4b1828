/**
 * Changes of a large cluster, as contiv-ksr writes them: pods are replaced, a few at a time, and their endpoints with
 * them; each second a pod of the own node gets another label; now and then a service, a policy and a node change.
 */
import { seededRandom } from '#infra/clock/manual.ts';
import { NODES } from '../ksr/large-cluster.ts';
import { ClusterPart } from './cluster-part.ts';
import {
  endpointsRecord,
  type LargeRecord,
  livesIn,
  OWN_NODE,
  podRecord,
  podsOf,
  policyRecord,
  serviceOf,
  serviceRecord,
  vppNodeRecord,
} from './large-records.ts';

/** Pods that are being replaced. */
const AT_ONCE = 20;
const OWN_EVERY = 100;
const SERVICE_EVERY = 50;
const POLICY_EVERY = 70;
const NODE_EVERY = 1_000;

export class Churn {
  readonly #part: ClusterPart;
  readonly #random = seededRandom(7);
  /** Of pods that were replaced; -1: it is about to be, and does not serve. */
  readonly #lives = new Map<number, number>();
  readonly #replacements: Generator<LargeRecord>[] = [];
  readonly #own = podsOf(OWN_NODE);
  #count = 0;

  constructor(part = new ClusterPart()) {
    this.#part = part;
  }

  next(): LargeRecord {
    const at = ++this.#count;
    if (at % NODE_EVERY === 0) return this.#node(at / NODE_EVERY);
    if (at % OWN_EVERY === 0) return this.#ownPod(at / OWN_EVERY);
    if (at % SERVICE_EVERY === 1)
      return serviceRecord(this.#pick(this.#part.services), 1_000 + (at % 1_000));
    if (at % POLICY_EVERY === 1)
      return policyRecord(this.#pick(this.#part.policies), 1_000 + (at % 1_000));
    for (;;) {
      const slot = at % AT_ONCE;
      const step = this.#replacements[slot]?.next();
      if (step && !step.done) return step.value;
      this.#replacements[slot] = this.#replace();
    }
  }

  #pick(numbers: readonly number[]): number {
    return numbers[this.#below(numbers.length)]!;
  }

  #below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  *#replace(): Generator<LargeRecord> {
    const pod = this.#part.pod(this.#below(this.#part.podCount));
    const life = this.#lives.get(pod) ?? 0;
    // those of the own node are attached, and one that is about to be replaced is not chosen again
    if (pod % NODES === OWN_NODE || life < 0) return;
    const endpoints = (): LargeRecord =>
      endpointsRecord(serviceOf(pod), livesIn(this.#part, this.#lives));
    this.#lives.set(pod, -1);
    yield endpoints();
    yield podRecord(pod, life, 'deleted');
    yield podRecord(pod, life + 1, 'pending');
    yield podRecord(pod, life + 1);
    this.#lives.set(pod, life + 1);
    yield endpoints();
  }

  #ownPod(turn: number): LargeRecord {
    return podRecord(this.#own[turn % this.#own.length]!, 0, 'running', `v${turn}`);
  }

  /** A node leaves, and joins again. */
  #node(turn: number): LargeRecord {
    const [key, text] = vppNodeRecord(this.#part.nodes - 1);
    return [key, turn % 2 === 1 ? undefined : text];
  }
}
