/** From the result of a probe to a case of the test. */
import type { Outcome, ProbeResult } from './probe.ts';
import { failed, passed, type TestCase } from './test-case.ts';
import type { PlannedProbe } from './test-plan.ts';

const seen: Readonly<Record<Outcome, string>> = {
  answered: 'answered',
  refused: 'refused',
  silent: 'no answer',
  stalled: 'a connection, but its data did not arrive',
  'wrong pod': 'another pod answered',
  'unknown name': 'the name has no address',
};

/** @param result undefined: the pod has left none */
export function judged(
  from: string,
  { check, to, probe }: PlannedProbe,
  result: ProbeResult | undefined,
): TestCase {
  if (result === undefined)
    return failed(check, from, to, 'the pod left no result', 'Run the test again.');
  const [outcome, ms] = result;
  if (probe.answers && outcome === 'answered') return passed(check, from, to, `${ms} ms`);
  if (!probe.answers && (outcome === 'refused' || outcome === 'silent'))
    return passed(check, from, to, seen[outcome]);
  const found = seen[outcome];
  return failed(check, from, to, found, remedyOf(check, from, to, outcome));
}

function remedyOf(check: string, from: string, to: string, outcome: Outcome): string {
  if (outcome === 'stalled')
    return 'Large packets are lost: compare the MTU of the network between the nodes with mtuSize (netctl check).';
  if (outcome === 'unknown name') return 'Look at the pods of the DNS service, and test again.';
  if (check.includes('policy'))
    return 'netctl policies shows what nodes enforce, netctl policies enforcement what they do not; netctl status names nodes that are behind.';
  if (to.startsWith('service'))
    return 'netctl services --problems names what is not carried as defined.';
  return from === to
    ? `netctl status ${from}, and netctl pods ${from}: the way of a packet within this node.`
    : 'netctl check --nodes probes the ways between the nodes.';
}
