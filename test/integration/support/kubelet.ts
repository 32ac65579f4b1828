/**
 * The CNI calls of a kubelet and container runtime: pods are added and deleted in random order, failed
 * calls are retried, and sandboxes whose ADD failed are deleted and replaced under the same pod name.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressIn } from '#demonstration/cni-client.ts';
import type { Random } from '#infra/clock/clock.ts';
import type { RealNode } from './node.ts';
import type { Sandbox } from './sandbox.ts';

/** A reply, or the failure when the agent was unreachable or ended. */
type Answer = { readonly address: string } | { readonly failure: string };

export class Kubelet {
  readonly #node: RealNode;
  readonly #random: Random;
  /** Owner of each address: from the reply to ADD until DEL and the deletion of the Pod record. */
  readonly #holders = new Map<string, Sandbox>();
  readonly #running = new Map<string, Sandbox>();
  /** Resolves when pods must not change any more. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #isSettled = false;
  #isOver = false;
  #isAborted = false;
  /** Calls by result; `interrupted` are calls during which the agent ended. */
  readonly counts = { added: 0, deleted: 0, failed: 0, interrupted: 0 };

  constructor(node: RealNode, random: Random) {
    this.#node = node;
    this.#random = random;
  }

  /** Attached pods by name. */
  get pods(): ReadonlyMap<string, Sandbox> {
    return this.#running;
  }

  /** Adds and deletes a pod of this name repeatedly; resolves after the last deletion. */
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

  /** Pods do not change from now on. */
  settle(): void {
    this.#isSettled = true;
    this.#settled.resolve();
  }

  /** Deletes all pods. */
  end(): void {
    this.#isOver = true;
    this.#ended.resolve();
  }

  /** Stops all pods without deleting them; `keep` rejects. */
  abort(): void {
    this.#isAborted = true;
    this.end();
  }

  /** Waits before a retry. */
  async #pause(): Promise<void> {
    await sleep(50 + this.#upTo(200));
    if (this.#isAborted) throw new Error('aborted');
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  #isDrawn(probability: number): boolean {
    return this.#random.next() < probability;
  }

  /** Retries until a sandbox has an address. */
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
            `${answer.address} was allocated to ${pod} and is in use by ${holder?.pod}`,
          );
          this.#holders.set(answer.address, sandbox);
          sandbox.address = answer.address;
          return sandbox;
        }
        this.#countFailure(answer.failure);
        await this.#pause();
        if (this.#isDrawn(0.5)) break;
      }
      await this.#delete(sandbox);
      await sandbox.remove();
    }
  }

  /** The Pod record or the namespace may be deleted before the DEL. */
  async #end(pod: string, sandbox: Sandbox): Promise<void> {
    const recordFirst = this.#isDrawn(0.5);
    const namespaceFirst = this.#isDrawn(0.3);
    if (recordFirst) await this.#node.unreflect(pod);
    if (namespaceFirst) await sandbox.remove();
    if (recordFirst) this.#holders.delete(sandbox.address);
    await this.#delete(sandbox, this.#isDrawn(0.2) ? '' : sandbox.path);
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
        const address = addressIn(reply);
        if (reply.result !== 0 || address === undefined) return { failure: reply.error };
        return { address };
      },
      (error): Answer => ({ failure: String(error) }),
    );
  }
}
