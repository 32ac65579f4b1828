/** Statistics of a simulated VPP whose counters grow as if packets were forwarded. */
import type { Page } from 'playwright-core';
import { systemClock } from '#infra/clock/system.ts';
import type { InterfaceCounters, StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { SimVpp } from '#simulator/vpp/vpp.ts';

type Counter = Exclude<keyof InterfaceCounters, 'swIfIndex' | 'internalName'>;

/** Growth of counters per second. */
export type Growth = Partial<Readonly<Record<Counter, number>>>;

/** The agent reads the counters at most once in this time. */
const FRESH_MS = 1_100;

export interface Traffic {
  readonly statistics: StatsPort;
  /**
   * Resolves when the agent has forgotten its reading of before: the counters start as if they had always grown.
   * @param growths by the names of the interfaces, as VPP calls them
   */
  set(growths: Readonly<Record<string, Growth>>): Promise<void>;
  /**
   * The counters cannot be read, as while VPP is not running.
   * @returns starts it: counters begin at 0 again
   */
  stop(reason: string): () => void;
}

export function growingTraffic(vpp: SimVpp): Traffic {
  const growths = new Map<string, Growth>();
  let start = performance.now() - 60_000;
  let failure: Error | undefined;
  const counted = (one: InterfaceCounters): InterfaceCounters => {
    const seconds = (performance.now() - start) / 1_000;
    const grown = Object.entries(growths.get(one.internalName) ?? {}).map(([name, perSecond]) => [
      name,
      BigInt(Math.round(perSecond * seconds)),
    ]);
    return { ...one, ...(Object.fromEntries(grown) as Partial<InterfaceCounters>) };
  };
  return {
    statistics: {
      interfaces: async () => {
        if (failure) throw failure;
        return (await vpp.statistics.interfaces()).map(counted);
      },
      nodeErrors: () => vpp.statistics.nodeErrors(),
      nodes: () => vpp.statistics.nodes(),
      system: () => vpp.statistics.system(),
      natSessions: () => vpp.statistics.natSessions(),
      natPackets: () => vpp.statistics.natPackets(),
    },
    set: async (added) => {
      for (const [name, growth] of Object.entries(added)) growths.set(name, growth);
      await systemClock.sleep(FRESH_MS);
    },
    stop: (reason) => {
      failure = new Error(reason);
      return () => {
        failure = undefined;
        start = performance.now();
      };
    },
  };
}

/**
 * Lets the time of the page pass until it asks for the counters again, when the agent reads them again, too.
 * The page needs `page.clock.install()` before it is opened.
 */
export async function afterNextReading(page: Page): Promise<void> {
  await systemClock.sleep(FRESH_MS);
  await page.clock.fastForward(5_000);
}
