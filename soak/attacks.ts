/**
 * Attacks on the REST server, each for ten seconds: meanwhile each probe is answered within half a
 * second and each CNI call within one, and the memory stays below the limit of the deployment. The
 * machine should do nothing else.
 */
import { attacks } from '#test/cmd/agent/attack.ts';
import {
  AttackedAgent,
  DEPLOYED_LIMIT_MIB,
  lines,
  longest,
} from '#test/cmd/agent/attacked-agent.ts';

export const NAME = 'attacks: probes and CNI calls while the REST server is attacked';

const ATTACK_MS = 10_000;
const MAX_LIVENESS_MS = 500;
const MAX_CNI_MS = 1_000;

export async function run(print: (line: string) => void): Promise<void> {
  const agent = await AttackedAgent.start();
  const exceeded: string[] = [];
  try {
    for (const [title, attack] of Object.entries(attacks)) {
      const observed = await agent.observe(attack, ATTACK_MS);
      print(title);
      for (const line of lines(observed)) print(`  ${line}`);
      if (longest(observed.liveness) > MAX_LIVENESS_MS || longest(observed.cni) > MAX_CNI_MS)
        exceeded.push(title);
      if (observed.memory.peak > DEPLOYED_LIMIT_MIB) exceeded.push(`${title}: memory`);
      await agent.ready();
    }
  } finally {
    await agent.stop();
  }
  if (exceeded.length > 0) throw new Error(`limits were exceeded: ${exceeded.join('; ')}`);
}
