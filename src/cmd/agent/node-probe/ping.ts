/** `ping` of VPP. */
import type { PathProbe } from '#documents/node-probe.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { runCliCommand } from './vpp-cli-socket.ts';

/** Probes have the size of VPP's default: larger ones may block an AF_PACKET interface that cannot send them. */
const COUNT = 5;
const INTERVAL_S = 0.2;
/** VPP answers after the last interval. */
const TIMEOUT_MS = 5_000;

const STATISTICS = /Statistics: (\d+) sent, (\d+) received/;
const INVALID = /ping: [^\r\n]*|unknown input[^\r\n]*/;
const END = new RegExp(`(${STATISTICS.source}|${INVALID.source})[^\n]*\n`);

export interface PingTarget {
  readonly address: string;
  /** VRF. */
  readonly table: number;
  /** VPP's name of the interface that has the source address; undefined: that of the way out. */
  readonly source?: string | undefined;
}

export type PingResult = Omit<PathProbe, 'path' | 'address'>;

/** @throws VppCliSocketError */
export async function ping(
  socket: string,
  { address, table, source }: PingTarget,
  clock: Clock,
): Promise<PingResult> {
  const run = (count: number): Promise<string> =>
    runCliCommand({
      socket,
      command: `ping ${address} table-id ${table}${source === undefined ? '' : ` source ${source}`} interval ${INTERVAL_S} repeat ${count}`,
      end: END,
      timeoutMs: TIMEOUT_MS,
      clock,
    });
  // The first packet is lost while VPP looks for the MAC address.
  await run(1);
  return pingResult(await run(COUNT));
}

export function pingResult(output: string): PingResult {
  const [, sent = '0', received = '0'] = STATISTICS.exec(output) ?? [];
  const times = [...output.matchAll(/ time=(\d*\.?\d+) ms/g)].map(([, time]) => Number(time));
  const average = times.reduce((sum, time) => sum + time, 0) / times.length;
  const [problem = null] = /Failed: [^\r\n]*/.exec(output) ?? INVALID.exec(output) ?? [];
  return {
    sent: Number(sent),
    received: Number(received),
    rttMs:
      times.length === 0
        ? null
        : { min: Math.min(...times), average: rounded(average), max: Math.max(...times) },
    problem,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 10_000) / 10_000;
}
