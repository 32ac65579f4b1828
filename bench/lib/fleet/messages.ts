/** Messages between the measurement and the processes of light agents. */

/** The namespace that is changed last: its label `version` says whether an agent is current. */
export const MARKER = 'team-0';

/** First argument of the process, as JSON. */
export interface LightAgentsArgs {
  readonly count: number;
  /** Number of the first agent. */
  readonly first: number;
  /** Ports of etcd or of proxies; each agent begins with another one. */
  readonly ports: readonly number[];
  /** Whether all agents read at once what all have lost. */
  readonly withoutSpread: boolean;
}

export interface LightAgentsState {
  /** Agents that follow the database. */
  readonly watching: number;
  /** Agents that have the value of the last change. */
  readonly current: number;
  /** Reads of the whole database. */
  readonly resyncs: number;
  /** Changes that were decoded. */
  readonly changes: number;
}

/** First argument of a process of readers, as JSON. */
export interface ReadersArgs {
  readonly count: number;
  /** Number of the first reader. */
  readonly first: number;
  /** Of etcd. */
  readonly port: number;
}

export interface ReadersReport {
  /** Reads that were begun again. */
  readonly failures: number;
}
