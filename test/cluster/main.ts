import { clusterDown, clusterUp } from './cluster.ts';
import { buildImages } from './images.ts';
import { kubectl } from './kubectl.ts';
import { buildPrograms } from './programs.ts';
import { defaultSettings, readSettings } from './settings.ts';
import { suites } from './suites.ts';

const print = (l: string) => console.log(l);
const [stage, ...rest] = process.argv.slice(2);
if (stage === 'programs') buildPrograms(print);
if (stage === 'images') await buildImages(print);
if (stage === 'up') await clusterUp(defaultSettings, print);
if (stage === 'down') await clusterDown();
if (stage === 'kubectl') process.stdout.write(kubectl(...rest));
if (stage === 'run') for (const name of rest) {
  const before = performance.now();
  const { cases } = await suites[name]!.run(readSettings()!);
  const count = (outcome: string) => cases.filter((c) => c.outcome === outcome).length;
  print(`${name}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped, ${Math.round((performance.now() - before) / 1000)} s`);
  for (const c of cases) if (c.outcome !== 'passed') print(`  ${c.outcome} ${c.name}: ${c.message.slice(0, 300)}`);
}
