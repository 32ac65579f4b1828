/**
 * VPP standing still while a restarted agent reads 10,000 routes: the longest time that a second client,
 * which has one request in flight, waits for a reply. The reference is the same without an agent.
 */
import type { Value } from '#kvscheduler/api/transaction.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { keyedValue, loop } from '#test/descriptors/compliance/example-values.ts';
import { withoutCompiler, withoutVpp } from '#test/support/requirements.ts';
import { ReferenceProgram } from '../reference-program.ts';
import { commit, VppNode } from '../vpp-node.ts';
import { type Pinged, pings } from './bare-requests.ts';
import { inTurns, median, type Part, type Row } from './row.ts';

const ROUTES = 10_000;
/** A few seconds on an idle VPP, longer than a resync. */
const PINGS = 10_000;
const TARGET_MS = 10;

export const dumpPause: Part = {
  title: 'dump pause',
  needs: () => withoutVpp() || withoutCompiler(),
  rows,
};

async function* rows(): AsyncGenerator<Row> {
  const bare = await ReferenceProgram.c<Pinged>('bare/binapi.c');
  await using node = await VppNode.start();
  const values = nodeValues();
  await commit(node.agent(), 'full-resync', values);
  const waits = await inTurns({
    alone: () => pings(bare, node.apiSocket, PINGS, 1),
    resync: async () => {
      const pinged = pings(bare, node.apiSocket, PINGS, 1);
      const { operations } = await commit(node.agent(), 'full-resync', values);
      if (operations > 0) throw new Error('a resync without a change had operations');
      return pinged;
    },
  });
  const longest = (list: readonly Pinged[]) => median(list.map(({ longestMs }) => longestMs));
  const [reference, own] = [longest(waits.alone), longest(waits.resync)];
  yield {
    name: `VPP standing still during the dumps of a restart with 10,000 routes`,
    reference: `without an agent ${reference.toFixed(1)} ms`,
    ours: `${own.toFixed(1)} ms`,
    ratio: '',
    target: '≤ 10 ms',
    met: own <= TARGET_MS,
  };
}

function nodeValues(): ReadonlyMap<string, Value> {
  const link = loop('bench', { enabled: true, ip_addresses: ['172.30.0.1/24'] });
  const routes = Array.from({ length: ROUTES }, (_, n) =>
    keyedValue(vppRouteModel, {
      dst_network: `20.0.${n >> 8}.${n & 255}/32`,
      next_hop_addr: '172.30.0.2',
      outgoing_interface: 'bench',
    }),
  );
  return new Map([link, ...routes].map(({ key, value }) => [key, value]));
}
