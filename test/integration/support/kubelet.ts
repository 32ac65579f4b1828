/**
 * Kubelet and container runtime of a node, as far as the CNI sees them: pods come and go in an order
 * that a random source decides, calls that fail are repeated, and sandboxes whose ADD failed are
 * deleted and replaced, under the same name of the pod.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#infra/clock/clock.ts';
import type { RealNode } from './node.ts';
import type { Sandbox } from './sandbox.ts';

/** A reply or, when the agent was not there or ended meanwhile, the reason. */
type Answer = { readonly address: string } | { readonly failure: string };

export class Kubelet {
  readonly #node: RealNode;
  readonly #random: Random;
  /** Who may use an address: from the reply to ADD until DEL and the end of the Pod record. */
  readonly #holders = new Map<string, Sandbox>();
  readonly #running = new Map<string, Sandbox>();
  /** Resolves when pods shall no longer come and go; those that are there stay. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #isSettled = false;
  #isOver = false;
  #isAborted = false;
  /** What was done, by kind; `interrupted` are calls during which the agent ended. */
  readonly counts = { added: 0, deleted: 0, failed: 0, interrupted: 0 };

  constructor(node: RealNode, random: Random) {
    this.#node = node;
    this.#random = random;
  }

  /** Pods that are attached, by name. */
  get pods(): ReadonlyMap<string, Sandbox> {
    return this.#running;
  }

  /** One life after the other of a pod of this name; resolves when the last is over. */
  async keep(pod: string): Promise<void> {
    while (!this.#isOver) {
      const sandbox = await this.#start(pod);
      this.#running.set(pod, sandbox);
      await this.#node.reflect(pod, sandbox.address);
      if (!this.#isSettled) await Promise.race([sleep(this.#upTo(600)), this.#settled.promise]);
      if (this.#isSettled) await this.#ended.promise;
      this.#running.delete(pod);
      await this.#end(pod, sandbox);
    }
  }

  /** From now on pods stay. */
  settle(): void {
    this.#isSettled = true;
    this.#settled.resolve();
  }

  /** Ends all pods, for good. */
  end(): void {
    this.#isOver = true;
    this.#ended.resolve();
  }

  /** Drops everything as it is; the lives reject. */
  abort(): void {
    this.#isAborted = true;
    this.end();
  }

  /** Before the next call is repeated. */
  async #pause(): Promise<void> {
    await sleep(50 + this.#upTo(200));
    if (this.#isAborted) throw new Error('aborted');
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #chance(share: number): boolean {
    return this.#random.next() < share;
  }

  /** Repeats until there is a sandbox with an address. */
  async #start(pod: string): Promise<Sandbox> {
    for (;;) {
      const sandbox = await this.#node.sandbox(pod);
      for (;;) {
        const answer = await this.#add(sandbox);
        if ('address' in answer) {
          this.counts.added++;
          const holder = this.#holders.get(answer.address);
          assert.equal(
            holder === undefined || holder === sandbox,
            true,
            `${answer.address} was given to ${pod} and is with ${holder?.pod}`,
          );
          this.#holders.set(answer.address, sandbox);
          sandbox.address = answer.address;
          return sandbox;
        }
        this.#countFailure(answer.failure);
        await this.#pause();
        if (this.#chance(0.5)) break;
      }
      await this.#delete(sandbox);
      await sandbox.remove();
    }
  }

  /** The record may go first, and the namespace too. */
  async #end(pod: string, sandbox: Sandbox): Promise<void> {
    const recordFirst = this.#chance(0.5);
    const namespaceFirst = this.#chance(0.3);
    if (recordFirst) await this.#node.unreflect(pod);
    if (namespaceFirst) await sandbox.remove();
    if (recordFirst) this.#holders.delete(sandbox.address);
    await this.#delete(sandbox, this.#chance(0.2) ? '' : sandbox.path);
    if (!recordFirst) {
      this.#holders.delete(sandbox.address);
      await this.#node.unreflect(pod);
    }
    if (!namespaceFirst) await sandbox.remove();
  }

  async #delete(sandbox: Sandbox, path?: string): Promise<void> {
    for (;;) {
      const failure = await this.#node.agent
        .delete(sandbox, path)
        .then(({ result, error }) => (result === 0 ? undefined : error), String);
      if (failure === undefined) break;
      this.#countFailure(failure);
      await this.#pause();
    }
    this.counts.deleted++;
  }

  #countFailure(failure: string): void {
    this.counts.failed++;
    if (/connection dropped|ECONNRESET|EPIPE/i.test(failure)) this.counts.interrupted++;
  }

  #add(sandbox: Sandbox): Promise<Answer> {
    return this.#node.agent.add(sandbox).then(
      (reply): Answer => {
        const address = reply.interfaces[0]?.ip_addresses[0]?.address.split('/')[0];
        if (reply.result !== 0 || address === undefined) return { failure: reply.error };
        return { address };
      },
      (error): Answer => ({ failure: String(error) }),
    );
  }
}
