/** Traffic of the tunnels, as this node sees it. One history for the list and for each node. */
import type { NodeDocument, NodeList } from '#documents/nodes.ts';
import { type RatePoint, type Rates, TrafficHistory } from '../../traffic/traffic-history.ts';

const history = new TrafficHistory('vpp');

export function addToHistory({ collectedAt, nodes }: NodeList): void {
  history.add({
    collectedAt,
    interfaces: nodes.flatMap(({ tunnel }) =>
      tunnel?.counters ? [[tunnel.interface, tunnel.counters] as const] : [],
    ),
  });
}

export function pointsOf({ tunnel }: NodeDocument): readonly RatePoint[] {
  return tunnel ? history.points(tunnel.interface) : [];
}

export function latestRates({ tunnel }: NodeDocument): Rates | undefined {
  return tunnel ? history.latest(tunnel.interface) : undefined;
}
