/**
 * The records of the status in etcd, in the encoding of the Go agent: that of protobuf's JSON, which
 * has the names of states, whole numbers of 64 bits as texts, and no field with a zero value.
 */
import type { ComponentState, ComponentStatus, StatusCheck } from './status.ts';

/** Longest text of an error; the documents of the probes have all of it. */
const MAX_ERROR_LENGTH = 1_000;

/** Below the prefix of the agent. */
const STATUS = 'check/status/v1/';

/** Names in keys and records that differ from those in the documents of the probes. */
const originalNames: ReadonlyMap<string, string> = new Map([['vpp', 'GOVPP']]);

/** Zero is absent. */
const stateNames: Readonly<Record<ComponentState, string | undefined>> = {
  init: undefined,
  ok: 'OK',
  error: 'ERROR',
};

/** @param prefix of the keys of the agent */
export function agentKey(prefix: string): string {
  return `${prefix}${STATUS}agent`;
}

export function componentKey(prefix: string, name: string): string {
  return `${prefix}${STATUS}plugin/${publishedName(name)}`;
}

/** The state of the agent and of all components. */
export function agentRecord(status: StatusCheck): string {
  const { build, start, overall, components } = status;
  return JSON.stringify({
    build_version: build.version || undefined,
    build_date: build.date || undefined,
    state: stateNames[overall.state],
    start_time: String(start),
    last_change: String(overall.lastChange),
    last_update: String(status.now()),
    commit_hash: build.commit || undefined,
    plugins: components.map(({ name, state, error }) => ({
      name: publishedName(name),
      state: stateNames[state],
      error: shortened(error),
    })),
  });
}

export function componentRecord({ state, error, lastChange }: ComponentStatus, now: number) {
  return JSON.stringify({
    state: stateNames[state],
    last_change: String(lastChange),
    last_update: String(now),
    error: shortened(error),
  });
}

function publishedName(name: string): string {
  return originalNames.get(name) ?? name;
}

function shortened(error: string | undefined): string | undefined {
  if (error === undefined || error.length <= MAX_ERROR_LENGTH) return error || undefined;
  return `${error.slice(0, MAX_ERROR_LENGTH).toWellFormed()}…`;
}
