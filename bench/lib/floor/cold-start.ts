/** A fresh agent, as the image starts it, with 10,000 routes or NAT mappings in etcd, on a real VPP. */
import { join } from 'node:path';
import { withoutNodes } from '#test/support/requirements.ts';
import { buildProgram } from '../../../scripts/lib/bundles.ts';
import { type AgentStart, contents, startAgent } from '../agent-start.ts';
import { median, milliseconds, type Part, ROUNDS, type Row } from './row.ts';

const TRANSACTION_TARGET_MS = 600;
const READY_TARGET_MS = 3_000;

export const coldStart: Part = { title: 'cold start', needs: withoutNodes, rows };

async function* rows(): AsyncGenerator<Row> {
  const image = join(await buildProgram('agent'), 'main.js');
  // fills the compile cache
  await startAgent(contents.nothing, image);
  for (const [values, content] of [
    ['routes', contents.routes],
    ['NAT mappings', contents.mappings],
  ] as const) {
    const starts: AgentStart[] = [];
    for (let round = 0; round < ROUNDS; round++) starts.push(await startAgent(content, image));
    yield row(values, starts);
  }
}

function row(values: string, starts: readonly AgentStart[]): Row {
  const of = (pick: (one: AgentStart) => number) => median(starts.map(pick));
  const transaction = of((one) => one.transaction);
  const ready = of((one) => one.ready);
  return {
    name: `first transaction of a fresh process with 10,000 ${values} from etcd`,
    reference: `bare ${milliseconds(of(({ bare }) => bare))}`,
    ours: `${milliseconds(transaction)}; ready after ${(ready / 1000).toFixed(1)} s`,
    ratio: of((one) => one.transaction / one.bare).toFixed(2),
    target: '≤ 0.6 s; ready ≤ 3 s',
    met: transaction <= TRANSACTION_TARGET_MS && ready <= READY_TARGET_MS,
  };
}
