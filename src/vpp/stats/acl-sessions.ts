/**
 * The use of VPP's table of ACL sessions. VPP counts in its statistics how many it has made, not how many have ended, and
 * the command that reports it reads the whole table, in which time VPP forwards nothing (0.1 s for 500,000). So there is a number
 * that the sessions do not exceed, and the command is asked only when this is near the limit, at most once a minute.
 */
import type { Clock } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { VppClient } from '../binapi/api.ts';
import { isNearlyFull, SessionAlarm } from './session-alarm.ts';

const READ_INTERVAL_MS = 60_000;

export interface AclSessions {
  /** There are not more; exact when it was read from the table. */
  readonly atMost: number;
  readonly limit: number;
}

interface Counted {
  readonly atMost: number;
  /** Sessions that were made until then. */
  readonly made: number;
}

const NOTHING: Counted = { atMost: 0, made: 0 };

export interface AclSessionTableDeps {
  readonly client: VppClient;
  readonly clock: Clock;
  readonly log: Logger;
}

export class AclSessionTable {
  readonly #deps: AclSessionTableDeps;
  readonly #alarm: SessionAlarm;
  /** Of the connection to VPP since which the limit is known. */
  #generation = 0;
  #limit = 0;
  #counted = NOTHING;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(deps: AclSessionTableDeps) {
    this.#deps = deps;
    this.#alarm = new SessionAlarm('the table of ACL sessions', deps.log);
  }

  /**
   * @param made how many sessions VPP has made since its start
   * @returns undefined if this VPP has no ACLs
   */
  async read(made: number): Promise<AclSessions | undefined> {
    const { client, clock } = this.#deps;
    if (!client.has('acl_plugin_get_conn_table_max_entries')) return undefined;
    const { generation } = client;
    if (this.#generation !== generation) {
      const reply = await client.request('acl_plugin_get_conn_table_max_entries', {});
      this.#limit = Number(reply.conn_table_max_entries);
      this.#counted = NOTHING;
      this.#generation = generation;
    }
    const limit = this.#limit;
    // counters that were cleared by hand begin at 0
    const more = made < this.#counted.made ? made : made - this.#counted.made;
    let atMost = Math.min(this.#counted.atMost + more, limit);
    if (isNearlyFull(atMost, limit) && clock.monotonic() - this.#readAt >= READ_INTERVAL_MS) {
      this.#readAt = clock.monotonic();
      const { sessions, interfaces } = await this.#readTable();
      atMost = sessions;
      this.#alarm.update(sessions, limit, await this.#mostOf(interfaces));
    }
    this.#counted = { atMost, made };
    return { atMost, limit };
  }

  async #readTable() {
    const { client } = this.#deps;
    const { reply } = await client.request('cli_inband', { cmd: 'show acl-plugin sessions' });
    const sessions = Number(/^Sessions total: .* = (\d+)/m.exec(reply)?.[1] ?? 0);
    const interfaces = new Map<number, number>();
    // in one list for each thread
    for (const [, index, count] of reply.matchAll(/^ +sw_if_index (\d+): .*? = (\d+);/gm))
      interfaces.set(Number(index), (interfaces.get(Number(index)) ?? 0) + Number(count));
    return { sessions, interfaces };
  }

  async #mostOf(interfaces: ReadonlyMap<number, number>): Promise<string> {
    const [most] = [...interfaces].sort(([, a], [, b]) => b - a);
    if (!most) return '';
    const [sw_if_index, count] = most;
    const all = { name_filter_valid: false, name_filter: '' };
    const [found] = await this.#deps.client.dump('sw_interface_dump', { sw_if_index, ...all });
    const name = found ? `${found.interface_name} ${found.tag}`.trim() : String(sw_if_index);
    return `interface ${name} has most of them, ${count}`;
  }
}
