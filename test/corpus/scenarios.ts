/** Inputs of the corpus: what happens to an agent, to VPP, to Linux and to the datastore. */
import { recordLinuxExamples, recordVppExamples } from './examples.ts';
import { families, recordFamily } from './random.ts';
import type { Recording } from './recording.ts';
import { questions, restarts, storeFaults, verified } from './scenarios/agent.ts';
import {
  leases,
  nodes,
  otherConfigurations,
  pods,
  shop,
  stolenNic,
  withIpv6,
} from './scenarios/cluster.ts';
import { drift, malformed, refusals, vppLost } from './scenarios/southbound.ts';

export interface Scenario {
  readonly name: string;
  readonly run: (recording: Recording) => Promise<void>;
}

export const scenarios: readonly Scenario[] = [
  { name: 'shop', run: shop },
  { name: 'pods-tap', run: (recording) => pods(recording, true) },
  { name: 'pods-veth', run: (recording) => pods(recording, false) },
  { name: 'nodes-vxlan', run: (recording) => nodes(recording, {}) },
  {
    name: 'nodes-without-overlay',
    run: (recording) => nodes(recording, { contiv: { nodeToNodeTransport: 'nooverlay' } }),
  },
  { name: 'ipv6', run: withIpv6 },
  { name: 'stolen-nic', run: stolenNic },
  { name: 'leases', run: leases },
  { name: 'other-configurations', run: otherConfigurations },
  { name: 'vpp-lost', run: vppLost },
  { name: 'drift', run: drift },
  { name: 'refusals', run: refusals },
  { name: 'malformed-records', run: malformed },
  { name: 'store-faults', run: storeFaults },
  { name: 'restarts', run: restarts },
  { name: 'verification', run: verified },
  { name: 'questions', run: questions },
  { name: 'vpp-examples', run: recordVppExamples },
  { name: 'linux-examples', run: recordLinuxExamples },
  ...families.map((family) => ({
    name: `random-${family.name.replaceAll(' ', '-')}`,
    run: (recording: Recording) => recordFamily(recording, family),
  })),
];
