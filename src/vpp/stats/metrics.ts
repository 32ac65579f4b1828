import { Counter, Gauge, type Registry } from 'prom-client';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type {
  NatPacketCounter,
  NatSessionCounters,
  NodeErrorCounter,
  StatsPort,
  SystemCounters,
} from '#plugins/controller/api/ports/stats.ts';
import { aclCounters } from './acl-counters.ts';
import type { AclSessions, AclSessionTable } from './acl-sessions.ts';
import { SessionAlarm } from './session-alarm.ts';

/** Share of NAT44's session table above which it is reported as nearly full. */
const NEARLY_FULL = 0.8;

export interface VppMetricsDeps {
  readonly statistics: StatsPort;
  readonly aclTable: Pick<AclSessionTable, 'read'>;
  readonly registry: Registry;
  /** Service label, which is a label of the metrics `vpp_…` as in the original. */
  readonly agent: string;
  readonly log: Logger;
}

/** Exports VPP's figures of this node as metrics. Call `refresh` before each scrape. */
export class VppMetrics {
  readonly #statistics: StatsPort;
  readonly #aclTable: Pick<AclSessionTable, 'read'>;
  readonly #log: Logger;
  readonly #natAlarm: SessionAlarm;
  readonly #agent: string;
  /** All metrics but `up`. */
  readonly #values: (Gauge | Counter)[] = [];
  readonly #up: Gauge;
  readonly #workers: Gauge;
  readonly #vectorRate: Gauge;
  readonly #loopRate: Gauge;
  readonly #heapSize: Gauge;
  readonly #heapUsed: Gauge;
  readonly #buffers: Gauge;
  readonly #errors: Counter;
  readonly #natSessions: Gauge;
  readonly #natLimit: Gauge;
  readonly #natNearlyFull: Gauge;
  readonly #natPackets: Counter;
  readonly #natDrops: Counter;
  readonly #aclPackets: Counter;
  readonly #aclRefused: Counter;
  readonly #aclSessions: Gauge;
  readonly #aclLimit: Gauge;
  #lastError = '';
  #lastAclError = '';

  constructor({ statistics, aclTable, registry, agent, log }: VppMetricsDeps) {
    this.#statistics = statistics;
    this.#aclTable = aclTable;
    this.#log = log;
    this.#natAlarm = new SessionAlarm('the session table of NAT44 on a thread of VPP', log);
    this.#agent = agent;
    const registers = [registry];
    const gauge = (name: string, help: string, labelNames: string[] = []): Gauge => {
      const made = new Gauge({ name, help, labelNames, registers });
      this.#values.push(made);
      return made;
    };
    const counter = (name: string, help: string, labelNames: string[]): Counter => {
      const made = new Counter({ name, help, labelNames, registers });
      this.#values.push(made);
      return made;
    };
    this.#up = new Gauge({
      name: 'vpp_stats_up',
      help: '1 if the statistics of VPP were read, else 0.',
      labelNames: ['agent'],
      registers,
    });
    this.#workers = gauge('vpp_workers', 'VPP worker threads, without the main thread.', ['agent']);
    this.#vectorRate = gauge('vpp_vector_rate', 'Packets per loop of a VPP thread.', [
      'agent',
      'thread',
    ]);
    this.#natSessions = gauge(
      'vpp_nat44_sessions',
      'Sessions of NAT44 on a VPP thread. An expired one counts until VPP needs its place.',
      ['agent', 'thread'],
    );
    this.#natLimit = gauge(
      'vpp_nat44_sessions_limit',
      'Sessions of NAT44 that each VPP thread can hold.',
      ['agent'],
    );
    this.#natNearlyFull = gauge(
      'vpp_nat44_sessions_nearly_full',
      '1 if a VPP thread holds at least 80 % of the NAT44 sessions that it can hold, else 0.',
      ['agent'],
    );
    this.#loopRate = gauge('contiv_vpp_loops_per_second', 'Loops of a VPP thread.', ['thread']);
    this.#heapSize = gauge('contiv_vpp_heap_size_bytes', 'Size of a heap of VPP.', ['heap']);
    this.#heapUsed = gauge('contiv_vpp_heap_used_bytes', 'Used bytes of a heap of VPP.', ['heap']);
    this.#buffers = gauge(
      'contiv_vpp_buffers',
      'Packet buffers of a pool of VPP by their state (used, cached by a thread, available).',
      ['pool', 'state'],
    );
    this.#errors = counter('contiv_vpp_errors_total', 'Errors in a graph node of VPP, by reason.', [
      'node',
      'reason',
    ]);
    this.#natPackets = counter(
      'contiv_vpp_nat_packets_total',
      'Packets that NAT44 has translated; the first one of a session takes the slow path.',
      ['direction', 'path', 'protocol'],
    );
    this.#natDrops = counter(
      'contiv_vpp_nat_dropped_packets_total',
      'Packets that NAT44 has dropped.',
      ['direction', 'path'],
    );
    this.#aclPackets = counter(
      'contiv_vpp_acl_packets_total',
      'Packets that ACLs have checked, by verdict: permitted, denied, session (of a known session), new_session.',
      ['direction', 'family', 'verdict'],
    );
    this.#aclRefused = counter(
      'contiv_vpp_acl_refused_sessions_total',
      'Packets for which the ACLs had no space for another session.',
      ['direction', 'family'],
    );
    this.#aclSessions = gauge(
      'contiv_vpp_acl_sessions',
      'There are not more sessions of ACLs in VPP, on all threads: the number of the last minute if it is above 90 %, else all that were made since the last look.',
      ['agent'],
    );
    this.#aclLimit = gauge(
      'contiv_vpp_acl_sessions_limit',
      'Sessions that the ACLs of VPP can hold.',
      ['agent'],
    );
  }

  /** Never rejects: if the statistics cannot be read, `vpp_stats_up` is 0 and the rest is absent. */
  readonly refresh = async (): Promise<void> => {
    const agent = this.#agent;
    this.#clear();
    try {
      const errors = await this.#statistics.nodeErrors();
      const system = await this.#statistics.system();
      const sessions = await this.#statistics.natSessions();
      const packets = await this.#statistics.natPackets();
      const acl = await this.#readAclSessions(errors);
      this.#setSystem(system);
      this.#setErrors(errors);
      this.#setSessions(sessions);
      this.#setPackets(packets);
      if (acl) {
        this.#aclSessions.set({ agent }, acl.atMost);
        this.#aclLimit.set({ agent }, acl.limit);
      }
      this.#up.set({ agent }, 1);
      this.#lastError = '';
    } catch (error) {
      this.#clear();
      this.#up.set({ agent }, 0);
      // Log a repeated error once, not at each scrape.
      const text = errorText(error);
      if (text !== this.#lastError)
        this.#log.warn({ err: error }, 'cannot read the statistics of VPP');
      this.#lastError = text;
    }
  };

  /** VPP is asked for them by its API, which may fail while the statistics can be read from its memory. */
  async #readAclSessions(errors: readonly NodeErrorCounter[]): Promise<AclSessions | undefined> {
    try {
      const read = await this.#aclTable.read(madeAclSessions(errors));
      this.#lastAclError = '';
      return read;
    } catch (error) {
      const text = errorText(error);
      if (text !== this.#lastAclError)
        this.#log.warn({ err: error }, 'cannot read the number of ACL sessions of VPP');
      this.#lastAclError = text;
      return undefined;
    }
  }

  #setSystem(system: SystemCounters): void {
    const agent = this.#agent;
    this.#workers.set({ agent }, system.workers);
    system.vectorRates.forEach((rate, thread) => {
      this.#vectorRate.set({ agent, thread }, rate);
    });
    system.loopRates.forEach((rate, thread) => {
      this.#loopRate.set({ thread }, rate);
    });
    for (const { name: heap, total, used } of system.heaps) {
      this.#heapSize.set({ heap }, total);
      this.#heapUsed.set({ heap }, used);
    }
    for (const { name: pool, ...states } of system.bufferPools)
      for (const [state, buffers] of Object.entries(states))
        this.#buffers.set({ pool, state }, buffers);
  }

  #setErrors(errors: readonly NodeErrorCounter[]): void {
    for (const { node, reason, count } of errors) this.#errors.inc({ node, reason }, Number(count));
    for (const { direction, family, verdict, packets } of aclCounters(errors))
      if (verdict === 'refused_session') this.#aclRefused.inc({ direction, family }, packets);
      else this.#aclPackets.inc({ direction, family, verdict }, packets);
  }

  #setSessions({ sessions, limit }: NatSessionCounters): void {
    const agent = this.#agent;
    sessions.forEach((count, thread) => {
      this.#natSessions.set({ agent, thread }, count);
    });
    this.#natLimit.set({ agent }, limit);
    const most = Math.max(0, ...sessions);
    this.#natAlarm.update(most, limit);
    const isNearlyFull = most >= NEARLY_FULL * limit && limit > 0;
    this.#natNearlyFull.set({ agent }, isNearlyFull ? 1 : 0);
  }

  #setPackets(packets: readonly NatPacketCounter[]): void {
    for (const { direction, path, kind, count } of packets)
      if (kind === 'drops') this.#natDrops.inc({ direction, path }, Number(count));
      else this.#natPackets.inc({ direction, path, protocol: kind }, Number(count));
  }

  #clear(): void {
    for (const metric of this.#values) metric.reset();
  }
}

function madeAclSessions(errors: readonly NodeErrorCounter[]): number {
  const made = aclCounters(errors).filter(({ verdict }) => verdict === 'new_session');
  return made.reduce((sum, { packets }) => sum + packets, 0);
}
