/**
 * Limits of NAT44's session table by the VRF of the interface at which a packet enters. VPP looks at the limit before it
 * knows whether a packet needs a session: at the limit it also drops what it would not translate, such as the packets of
 * tunnels. A VRF whose packets make no sessions may therefore have a higher one than those that fill the table.
 */
import { defineInternalDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { nat44TableLimitKey } from '#models/vpp/derived.ts';
import { TableLimit } from '#models/vpp/nat.gen.ts';
import type { VppClient } from '../../binapi/api.ts';
import { ignoreRetvals } from '../ignored-retvals.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tableDependencies } from './table-dependencies.ts';

/** The table does not exist. */
const UNSPECIFIED = -1;

export function nat44TableLimitDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<TableLimit, undefined> {
  const set = ({ vrf_id, max_sessions }: TableLimit): Promise<unknown> =>
    client.request('nat44_set_session_limit', { vrf_id, session_limit: max_sessions });
  return defineInternalDescriptor(
    'vpp-nat44-table-limit',
    { keys: [nat44TableLimitKey], valueType: TableLimit },
    {
      dependencies: (_key, { vrf_id }) => tableDependencies([vrf_id]),
      async create(_key, limit) {
        await set(limit);
        return undefined;
      },
      async update(_key, _before, limit) {
        await set(limit);
        return undefined;
      },
      /** VPP cannot remove a limit. */
      async delete(_key, { vrf_id }) {
        const { sessions } = await client.request('nat44_show_running_config', {});
        await ignoreRetvals(set({ vrf_id, max_sessions: sessions }), [UNSPECIFIED]);
      },
    },
  );
}

/**
 * Of the asked tables those that VPP has a limit of. Only commands of its CLI tell them, by the index of the table; if
 * these answer otherwise, all are assumed to be as asked.
 */
export async function readTableLimits(
  client: VppClient,
  asked: readonly TableLimit[],
): Promise<readonly TableLimit[]> {
  if (asked.length === 0) return asked;
  const [tables, summary] = await Promise.all(
    ['show ip table', 'show nat44 summary'].map((cmd) => client.request('cli_inband', { cmd })),
  );
  const ids = numbers(tables!.reply, /^\[(\d+)\] table_id:(\d+) /gm);
  const limits = numbers(summary!.reply, /^max translations per thread: (\d+) fib (\d+)/gm);
  if (ids.length === 0 || limits.length === 0) return asked;
  const idOf = new Map(ids.map(([index, id]) => [index, id]));
  const found = new Map(limits.map(([limit, index]) => [idOf.get(index), limit]));
  return asked.flatMap(({ vrf_id }) => {
    const max_sessions = found.get(vrf_id);
    return max_sessions === undefined ? [] : [{ vrf_id, max_sessions }];
  });
}

function numbers(text: string, line: RegExp): readonly (readonly [number, number])[] {
  return [...text.matchAll(line)].map(([, a, b]) => [Number(a), Number(b)] as const);
}
