/** Traffic of the interfaces of pods, as a pod sees it. One history for the list and for each pod. */

import { useMemo } from 'preact/hooks';
import type { InterfaceList } from '#documents/interfaces.ts';
import { useDocument } from '../../agent/use-document.ts';
import { type Counters, type RatePoint, TrafficHistory } from '../../traffic/traffic-history.ts';

const COLLECTION_MS = 5_000;

const history = new TrafficHistory('peer');

export interface PodTraffic {
  /** Why the counters are unknown; undefined: they are known, or will be soon. */
  readonly problem: string | undefined;
  points(vppInterface: string): readonly RatePoint[];
  counters(vppInterface: string): Counters | undefined;
  /** Name that VPP gave an interface. */
  vppName(vppInterface: string): string | undefined;
}

/** @param query of `GET /contiv/v1/interfaces`; the same text while the same pods are shown */
export function usePodTraffic(query: string): PodTraffic {
  const { document, error } = useDocument<InterfaceList>(`contiv/v1/interfaces?${query}`, {
    everyMs: COLLECTION_MS,
  });
  return useMemo(() => {
    const byName = new Map(document?.interfaces.map((one) => [one.name, one]));
    if (document)
      history.add({
        collectedAt: document.collectedAt,
        interfaces: document.interfaces.map(({ name, counters }) => [name, counters]),
      });
    return {
      problem: error?.message ?? document?.error ?? undefined,
      points: (name) => history.points(name),
      counters: (name) => byName.get(name)?.counters,
      vppName: (name) => byName.get(name)?.vppName,
    };
  }, [document, error]);
}
