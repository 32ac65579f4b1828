/**
 * New processes of the agent on a real VPP: without work, with 10,000 routes and with 10,000 NAT mappings in
 * etcd, as the image starts it; and without work from the source.
 */
import { resolve } from 'node:path';
import { withoutNodes } from '#test/support/requirements.ts';
import { buildProgram } from '../scripts/lib/bundles.ts';
import { type AgentStart, contents, startAgent } from './lib/agent-start.ts';
import type { Print } from './lib/subprocess.ts';

export const NAME = 'cold-start: routes and NAT mappings from etcd';

const ROUNDS = 5;
const SOURCE = resolve(import.meta.dirname, '../src/cmd/agent/main.ts');
/** The first transaction to the raw socket: 0.6 s to 0.15 s. */
const TARGET_RATIO = 4;
const TARGET_READY_MS = 3_000;

export async function run(print: Print): Promise<void> {
  if (withoutNodes()) {
    print(`not measured: ${withoutNodes()}`);
    return;
  }
  const image = resolve(await buildProgram('agent'), 'main.js');
  // fills the compile caches
  for (const main of [image, SOURCE]) await startAgent(contents.nothing, main);
  const cases = [
    { name: 'nothing to do, from the source', content: contents.nothing, main: SOURCE },
    { name: 'nothing to do', content: contents.nothing, main: image },
    { name: '10,000 routes', content: contents.routes, main: image },
    { name: '10,000 NAT mappings', content: contents.mappings, main: image },
  ];
  const starts = new Map<string, AgentStart[]>(cases.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const { name, content, main } of cases)
      starts.get(name)?.push(await startAgent(content, main));
  for (const [name, all] of starts) print(`${name}: ${text(all)}`);
}

/** Medians. */
function text(all: readonly AgentStart[]): string {
  const of = (pick: (one: AgentStart) => number): number =>
    all.map(pick).sort((a, b) => a - b)[all.length >> 1]!;
  const ready = of((one) => one.ready);
  const parts = [
    `serving after ${of((one) => one.serving).toFixed(0)} ms`,
    `ready after ${ready.toFixed(0)} ms${target(ready <= TARGET_READY_MS)}`,
    `${of((one) => one.cpu).toFixed(0)} ms of CPU`,
    `first transaction ${of((one) => one.transaction).toFixed(0)} ms`,
  ];
  const bare = of((one) => one.bare);
  if (bare > 0) {
    const ratio = of((one) => one.transaction / one.bare);
    parts.push(`raw socket ${bare.toFixed(0)} ms`);
    parts.push(`ratio ${ratio.toFixed(1)}${target(ratio <= TARGET_RATIO)}`);
  }
  return parts.join(', ');
}

function target(isMet: boolean): string {
  return isMet ? '' : ' (MISSED)';
}

if (import.meta.main) await run(console.log);
