/**
 * Attacks on the REST server, each for ten seconds: meanwhile each probe is answered within half a
 * second and each CNI call within one. The machine should do nothing else.
 */
import { attacks } from '#test/cmd/agent/attack.ts';
import { AttackedAgent, lines, longest } from '#test/cmd/agent/attacked-agent.ts';

export const NAME = 'attacks: probes and CNI calls while the REST server is attacked';

const ATTACK_MS = 10_000;
const MAX_LIVENESS_MS = 500;
const MAX_CNI_MS = 1_000;

export async function run(print: (line: string) => void): Promise<void> {
  const agent = await AttackedAgent.start();
  const late: string[] = [];
  try {
    for (const [title, attack] of Object.entries(attacks)) {
      const observed = await agent.observe(attack, ATTACK_MS);
      print(title);
      for (const line of lines(observed)) print(`  ${line}`);
      if (longest(observed.liveness) > MAX_LIVENESS_MS || longest(observed.cni) > MAX_CNI_MS)
        late.push(title);
      await agent.ready();
    }
  } finally {
    await agent.stop();
  }
  if (late.length > 0) throw new Error(`answers were late: ${late.join('; ')}`);
}
