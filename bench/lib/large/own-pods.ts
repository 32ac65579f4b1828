import type { Controller } from '#plugins/controller/controller.ts';
import { MARKER } from '../fleet/messages.ts';
import { OWN_NODE, podRecord, podsOf } from './large-records.ts';
import type { StormReport } from './messages.ts';

const TICK_MS = 10;
/** Keys in the state of Kubernetes are without the prefix in etcd. */
const PREFIX = '/vnf-agent/contiv-ksr/';
const keys = podsOf(OWN_NODE).map((pod) => podRecord(pod, 0)[0].slice(PREFIX.length));

/** When the agent has processed the changes of its own pods, whichever event has brought them. */
export class OwnPods {
  readonly #controller: Controller;
  readonly #versions = new Map<string, string | undefined>();
  #seen: { readonly version: string; readonly seqNum: number }[] = [];
  #longestQueue = 0;

  constructor(controller: Controller) {
    this.#controller = controller;
    for (const key of keys) this.#versions.set(key, this.#version('pod', key));
    setInterval(() => this.#look(), TICK_MS);
  }

  #look(): void {
    const { eventCount, queueLength } = this.#controller;
    this.#longestQueue = Math.max(this.#longestQueue, queueLength);
    for (const key of keys) {
      const version = this.#version('pod', key);
      if (version === this.#versions.get(key)) continue;
      this.#versions.set(key, version);
      // that of an event that has not ended, or of the last one
      if (version !== undefined) this.#seen.push({ version, seqNum: eventCount - 1 });
    }
  }

  #version(resource: string, key: string): string | undefined {
    const value = this.#controller.kubeState.get(resource)?.get(key);
    const { label } = (value ?? {}) as { label?: readonly { key: string; value: string }[] };
    return label?.find((one) => one.key === 'version')?.value;
  }

  report(): StormReport {
    this.#look();
    const { history, isIdle } = this.#controller;
    const own: [string, number][] = [];
    this.#seen = this.#seen.filter(({ version, seqNum }) => {
      const record = history.records.findLast((one) => one.seqNum === seqNum);
      if (record) own.push([version, record.end]);
      return !record;
    });
    const longestQueue = this.#longestQueue;
    this.#longestQueue = 0;
    return {
      own,
      longestQueue,
      turn: this.#version('namespace', `k8s/namespace/${MARKER}`),
      isIdle,
    };
  }
}
