/** Two nodes with a pod each, and a session of WireGuard. */
import type { VppProcess } from '#test/integration/support/vpp-process.ts';
import { median } from '../floor/row.ts';
import type { Print } from '../subprocess.ts';
import { nodesText } from './compare-path.ts';
import type { Link } from './frames.ts';
import { type GraphCost, graphCost, total } from './graph-cost.ts';
import { macOf } from './measured-node.ts';
import { flows } from './paths.ts';

export interface EncryptedEnd {
  readonly vpp: VppProcess;
  /** VPP's name of the interface of the pod. */
  readonly podInterface: string;
  /** Link of the pod to VPP. */
  readonly link: Link;
  readonly pod: string;
}

export interface EncryptedPair extends AsyncDisposable {
  /** The one that is measured. */
  readonly near: EncryptedEnd;
  readonly far: EncryptedEnd;
}

const ROUNDS = 5;
const PORT = 9;
/** One worker encrypts for a peer, and the others hand their packets to it: at a higher rate these would be dropped. */
const WORKER_RATE = '20000';

export async function linkOf(vpp: VppProcess, name: string, sourceMac: string): Promise<Link> {
  return { sourceMac, destinationMac: await macOf(vpp, name) };
}

/** @param way whether the measured node encrypts or decrypts */
export async function compareEncryption(
  print: Print,
  title: string,
  way: 'encrypts' | 'decrypts',
  bare: EncryptedPair,
  ours: EncryptedPair,
  workers = 0,
): Promise<number> {
  const costs: Record<'bare' | 'ours', GraphCost[]> = { bare: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    costs.bare.push(await costOf(bare, way, workers));
    costs.ours.push(await costOf(ours, way, workers));
  }
  const [least, cost] = [costs.bare, costs.ours].map((all) => median(all.map(total))) as [
    number,
    number,
  ];
  print(
    `${title}: ${cost.toFixed(0)} clocks, bare ${least.toFixed(0)}: ${(cost / least).toFixed(2)}`,
  );
  print(`  bare: ${nodesText(costs.bare)}`);
  print(`  ours: ${nodesText(costs.ours)}`);
  return cost / least;
}

function costOf(
  { near, far }: EncryptedPair,
  way: 'encrypts' | 'decrypts',
  workers: number,
): Promise<GraphCost> {
  const [from, to] = way === 'encrypts' ? [near, far] : [far, near];
  const packets = {
    interface: from.podInterface,
    frames: flows(from.link, from.pod, to.pod, PORT),
  };
  const rate = workers === 0 ? '' : WORKER_RATE;
  return graphCost(near.vpp, packets, workers, { sender: from.vpp, rate });
}
