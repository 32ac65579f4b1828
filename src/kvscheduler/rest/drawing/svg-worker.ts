/** A thread that turns the dot text that it is started with into SVG, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { Graphviz } from '@hpcc-js/wasm-graphviz';

const graphviz = await Graphviz.load();
parentPort?.postMessage(graphviz.layout(String(workerData), 'svg', 'dot'));
