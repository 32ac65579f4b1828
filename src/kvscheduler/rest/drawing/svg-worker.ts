/** Worker thread: converts the DOT text in its `workerData` to SVG, then ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { Graphviz } from '@hpcc-js/wasm-graphviz';
import { WORKER_READY } from '#infra/process/worker-answer.ts';

const graphviz = await Graphviz.load();
parentPort?.postMessage(WORKER_READY);
parentPort?.postMessage(graphviz.layout(String(workerData), 'svg', 'dot'));
