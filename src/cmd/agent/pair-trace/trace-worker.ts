/** Worker thread: traces the packet of its last message through the snapshot of the messages before it, then ends. */
import { parentPort } from 'node:worker_threads';
import { WORKER_READY } from '#infra/process/worker-answer.ts';
import { isNodeSnapshot } from '#packet-trace/node-document.ts';
import { tracePair } from '#packet-trace/pair-trace.ts';
import type { FromTraceWorker, ToTraceWorker } from './trace-request.ts';

const pieces: string[] = [];

parentPort?.postMessage(WORKER_READY);
parentPort?.on('message', (message: ToTraceWorker) => {
  if (typeof message === 'string') {
    pieces.push(message);
    return;
  }
  const node: unknown = JSON.parse(pieces.join(''));
  if (!isNodeSnapshot(node)) throw new Error('the snapshot of the node is incomplete');
  const { source, destination, ports } = message;
  parentPort?.postMessage(tracePair([node], source, destination, ports) satisfies FromTraceWorker);
});
