/** Worker thread: converts the DOT text in its `workerData` to SVG, then ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { Graphviz } from '@hpcc-js/wasm-graphviz';

const graphviz = await Graphviz.load();
parentPort?.postMessage(graphviz.layout(String(workerData), 'svg', 'dot'));
