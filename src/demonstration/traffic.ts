/**
 * Simulated traffic: connections are traced through the network of the running nodes, which makes sessions in the
 * simulated VPPs, and their packets are counted there. Policies and services decide about each of them.
 */
import type { Clock, Random } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { deviceByAddress } from '#packet-trace/cluster.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { type PacketTrace, type Sighting, tracePacket } from '#packet-trace/tracer.ts';
import type { LiveNetwork } from './live-network.ts';
import type { ReportedFlows } from './reported-flows.ts';
import type { Client, Target } from './traffic-ends.ts';

const ROUND_MS = 1_000;
const CONNECTIONS_PER_ROUND = 24;

/** A client uses few ports, so that the number of sessions is bounded. */
const FIRST_PORT = 32_768;
const PORTS = 16;

/** A client that gets no answer asks again rarely. */
const RARELY = 0.03;

/** Bytes of packets: requests, replies, and those that open connections. */
const REQUEST_BYTES = 240;
const REPLY_BYTES = 1_180;
const FIRST_BYTES = 60;
/** A client sends its first packet again when no answer comes. */
const ATTEMPTS = 3;
const LARGEST_CONNECTION = 400;

export interface TrafficDeps {
  readonly network: Pick<LiveNetwork, 'snapshot' | 'memory' | 'vppOf'>;
  readonly clients: readonly Client[];
  readonly flows: Pick<ReportedFlows, 'report'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A packet that was traced, and what noticed it. */
interface Passed {
  readonly trace: PacketTrace;
  readonly sightings: readonly Sighting[];
}

export class Traffic {
  readonly #deps: TrafficDeps;
  /** Targets that did not answer a client the last time. */
  readonly #silent = new Set<string>();
  readonly #aborter = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: TrafficDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when no packet passes any more. */
  async stop(): Promise<void> {
    this.#aborter.abort();
    await this.#running;
  }

  /** Some connections, as in one second. @throws what reading the network throws */
  async round(): Promise<void> {
    const { network, clients, clock, random } = this.#deps;
    if (clients.length === 0) return;
    const snapshot = await network.snapshot();
    const chosen = Array.from({ length: CONNECTIONS_PER_ROUND }, () => {
      return clients[Math.floor(random.next() * clients.length)]!;
    });
    await new Slices(clock).each(chosen, (client) => {
      const target = this.#targetOf(client);
      if (target) this.#connect(snapshot, client, target);
    });
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#aborter;
    while (!signal.aborted) {
      // without VPP or an agent there is no traffic for a while
      await this.round().catch((thrown: unknown) => {
        if (!signal.aborted) log.debug({ error: errorText(thrown) }, 'no traffic');
      });
      await clock.sleep(ROUND_MS, signal).catch(() => undefined);
    }
  }

  #targetOf(client: Client): Target | undefined {
    const { random } = this.#deps;
    const weights = client.targets.map((target) =>
      this.#silent.has(nameOf(client, target)) ? RARELY : 1,
    );
    return client.targets[weightedIndex(weights, random)];
  }

  #connect(snapshot: Snapshot, client: Client, target: Target): void {
    const { random, flows } = this.#deps;
    const start = deviceByAddress(snapshot, client.address);
    // the pod was deleted
    if (start === undefined) return;
    const first: Packet = {
      source: client.address,
      destination: target.address,
      protocol: target.protocol,
      sourcePort: FIRST_PORT + Math.floor(random.next() * PORTS),
      destinationPort: target.port,
    };
    const pass = this.#passing(snapshot);
    const there = pass(start, first);
    const back =
      there.trace.verdict === 'delivered'
        ? pass(there.trace.device, replyTo(there.trace.packet))
        : undefined;
    const name = nameOf(client, target);
    if (back?.trace.verdict === 'delivered') {
      this.#silent.delete(name);
      const packets = 1 + Math.floor(random.next() * LARGEST_CONNECTION);
      this.#count(there, packets, REQUEST_BYTES);
      this.#count(back, packets, REPLY_BYTES);
      flows.report({
        client: start,
        first,
        answered: { server: there.trace.device, packet: there.trace.packet },
        sent: packets * REQUEST_BYTES,
        received: packets * REPLY_BYTES,
      });
      return;
    }
    this.#silent.add(name);
    flows.report({ client: start, first, answered: undefined, sent: 0, received: 0 });
    this.#count(there, ATTEMPTS, FIRST_BYTES);
    if (back) this.#count(back, ATTEMPTS, FIRST_BYTES);
  }

  #passing(snapshot: Snapshot): (start: string, packet: Packet) => Passed {
    const { network, random } = this.#deps;
    const memory = network.memory();
    const choose = (weights: readonly number[]): number => weightedIndex(weights, random);
    return (start, packet) => {
      const sightings: Sighting[] = [];
      const observe = (sighting: Sighting): void => void sightings.push(sighting);
      return {
        trace: tracePacket(snapshot, start, packet, { memory, choose, observe }),
        sightings,
      };
    };
  }

  #count({ trace, sightings }: Passed, packets: number, bytesOfOne: number): void {
    const { network } = this.#deps;
    const bytes = packets * bytesOfOne;
    for (const { device, interface: name, kind, side } of sightings) {
      const counters = network.vppOf(device)?.traffic;
      if (kind === 'received') counters?.receive(name, packets, bytes);
      else if (kind === 'sent') counters?.send(name, packets, bytes);
      else {
        const node = `acl-plugin-${side === 'input' ? 'in' : 'out'}-ip4-fa`;
        counters?.error(
          node,
          kind === 'denied' ? 'ACL deny packets' : 'ACL permit packets',
          packets,
        );
      }
    }
    if (trace.verdict !== 'dropped') return;
    // VPP counts them at the interface by which they came
    const came = sightings.findLast(
      ({ device, kind }) => device === trace.device && kind === 'received',
    );
    if (came) network.vppOf(trace.device)?.traffic?.drop(came.interface, packets);
  }
}

function nameOf(client: Client, { address, port, protocol }: Target): string {
  return `${client.address} ${protocol} ${address} ${port}`;
}

/** @returns an index of `weights`, each as often as its weight says */
function weightedIndex(weights: readonly number[], random: Random): number {
  let left = random.next() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [index, weight] of weights.entries()) {
    left -= weight;
    if (left < 0) return index;
  }
  return weights.length - 1;
}
