/** Replaces the keys of this node when they are old, or by command: see `key-steps.ts`. */
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { type RepeatedWorkDeps, repeatedWork } from '#infra/process/repeated-work.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import type {
  KeyReplacement,
  OwnKeys,
  OwnKeysPort,
  Slot,
} from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { NodeSyncApi } from '#plugins/nodesync/api.ts';
import { type Ipv4NetApi, KeyChange } from './api.ts';
import { type KeyStep, nextKeyStep } from './key-steps.ts';
import { slotKeys } from './slot-keys.ts';

const INTERVAL_MS = 2_000;
/** An event that could not be processed is repeated after so many intervals; each time, after twice as many as before. */
const INTERVALS_UNTIL_REPEATED = 15;
const MS_PER_MINUTE = 60_000;

/** The owner of the keys. */
export interface ReplaceableKeys extends OwnKeysPort {
  setReplacement(replacement: KeyReplacement | undefined): Promise<void>;
  replace(slot: Slot): Promise<void>;
}

export interface KeyReplacementDeps extends RepeatedWorkDeps {
  readonly ownKeys: ReplaceableKeys;
  readonly net: Pick<Ipv4NetApi, 'wiredKeys' | 'peers'>;
  readonly nodes: Pick<NodeSyncApi, 'isPublished'>;
  readonly sessions: () => readonly WireguardSession[];
  /** Minutes; 0: only by command. */
  readonly lifetime: number;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly log: Logger;
}

export function keyReplacement(deps: KeyReplacementDeps): Component {
  const steps = new KeyReplacementSteps(deps);
  return repeatedWork(
    {
      name: 'replacement of keys',
      intervalMs: INTERVAL_MS,
      work: () => steps.check(),
      onFailure: (error) =>
        deps.log.warn({ err: error }, 'the keys of this node are not replaced; trying again'),
    },
    deps,
  );
}

class KeyReplacementSteps {
  readonly #deps: KeyReplacementDeps;
  /** Since when the others can read the last step. */
  #publishedAt: number | undefined;
  /** Intervals until an event is repeated that was pushed and is not processed yet. */
  #waiting = 0;
  #pause = INTERVALS_UNTIL_REPEATED;

  constructor(deps: KeyReplacementDeps) {
    this.#deps = deps;
  }

  async check(): Promise<void> {
    const { net, ownKeys } = this.#deps;
    const wired = net.wiredKeys();
    // nothing is encrypted, or nothing is configured yet
    if (wired === undefined) return;
    const own = await ownKeys.ownKeys();
    if (JSON.stringify(slotKeys(own)) !== JSON.stringify(wired)) this.#tell(own);
    else await this.#continue(own);
  }

  /** The event loop configures the keys and publishes them. */
  #tell({ replacement }: OwnKeys): void {
    this.#publishedAt = undefined;
    if (this.#waiting > 0) {
      this.#waiting--;
      return;
    }
    this.#deps.loop.push(KeyChange.event({ ...(replacement && { replacement }) }));
    this.#waiting = this.#pause;
    this.#pause *= 2;
  }

  async #continue(own: OwnKeys): Promise<void> {
    const { nodes, clock, lifetime } = this.#deps;
    this.#waiting = 0;
    this.#pause = INTERVALS_UNTIL_REPEATED;
    if (!nodes.isPublished()) this.#publishedAt = undefined;
    else this.#publishedAt ??= clock.monotonic();
    const step = nextKeyStep(own, {
      now: clock.wallTime(),
      lifetime: lifetime * MS_PER_MINUTE,
      publishedFor:
        this.#publishedAt === undefined ? undefined : clock.monotonic() - this.#publishedAt,
      hasSessions: (slot) =>
        this.#sessions().every(([there, all]) => !all.includes(slot) || there.includes(slot)),
      hasOnlySessions: (slot) =>
        this.#sessions().some(([there]) => there.length === 1 && there.includes(slot)),
    });
    if (step === undefined) return;
    await this.#take(step);
    this.#tell(await this.#deps.ownKeys.ownKeys());
  }

  async #take(step: KeyStep): Promise<void> {
    const { ownKeys, log } = this.#deps;
    log.info({ step }, 'a key of WireGuard is being replaced');
    if (step.kind === 'begin') await ownKeys.setReplacement({ slot: step.slot, isNew: false });
    else if (step.kind === 'replace') await ownKeys.replace(step.slot);
    else await ownKeys.setReplacement(undefined);
  }

  /** Of each other node, the slots by which there is a session, and those by which there should be one. */
  #sessions(): (readonly [readonly Slot[], readonly Slot[]])[] {
    const { net, sessions } = this.#deps;
    const established = new Set(
      sessions()
        .filter(({ isEstablished }) => isEstablished)
        .map(({ publicKey }) => publicKey),
    );
    return net
      .peers()
      .map((peers) => [
        peers.filter(({ publicKey }) => established.has(publicKey)).map(({ slot }) => slot),
        peers.map(({ slot }) => slot),
      ]);
  }
}
