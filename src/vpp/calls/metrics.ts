/** The metrics `ligato_govppmux_…` of the original: requests to VPP. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { VppClient } from '../binapi/api.ts';
import { CallStatistics } from './call-statistics.ts';

/** Seconds: 0.5 ms to 2 s. */
const durationBuckets = Array.from({ length: 13 }, (_, power) => 0.0005 * 2 ** power);

/** @returns what observes the requests */
export function registerCallMetrics(
  registry: Registry,
  client: () => Pick<VppClient, 'generation' | 'state'>,
): CallStatistics {
  const registers = [registry];
  const durations = new Histogram({
    name: 'ligato_govppmux_successful_request_duration_seconds',
    help: 'Time from a request to VPP to its answer, with its time in the queue of the client.',
    labelNames: ['message'],
    buckets: durationBuckets,
    registers,
  });
  const calls = new CallStatistics((message, seconds) => durations.observe({ message }, seconds));
  new Counter({
    name: 'ligato_govppmux_channels_created_total',
    help: 'Connections to VPP since the start.',
    registers,
    collect() {
      this.reset();
      this.inc(client().generation);
    },
  });
  new Gauge({
    name: 'ligato_govppmux_channels',
    help: 'Open connections to VPP (0 or 1).',
    registers,
    collect() {
      this.set(client().state === 'connected' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'ligato_govppmux_requests',
    help: 'Requests that VPP has not answered yet.',
    registers,
    collect() {
      const { sent, done, failed } = calls.totals;
      this.set(sent - done - failed);
    },
  });
  const byMessage = (name: string, help: string, counts: () => Iterable<[string, number]>) =>
    new Counter({
      name,
      help,
      labelNames: ['message'],
      registers,
      collect() {
        this.reset();
        for (const [message, count] of counts()) this.inc({ message }, count);
      },
    });
  byMessage('ligato_govppmux_requests_total', 'Requests to VPP.', () => calls.sentByMessage);
  byMessage('ligato_govppmux_requests_done_total', 'Requests that VPP has carried out.', () =>
    [...calls.doneByMessage].map(([message, { count }]) => [message, count]),
  );
  byMessage(
    'ligato_govppmux_replies_received_total',
    'Messages that VPP has answered, by the message of the answer.',
    () => calls.repliesByMessage,
  );
  new Counter({
    name: 'ligato_govppmux_requests_failed_total',
    help: 'Requests that VPP refused or did not answer, by the code of the error and the retval.',
    labelNames: ['message', 'error'],
    registers,
    collect() {
      this.reset();
      for (const [message, errors] of calls.failedByMessage)
        for (const [error, count] of errors) this.inc({ message, error }, count);
    },
  });
  return calls;
}
