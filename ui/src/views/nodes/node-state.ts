/** State of another node, as this node reaches it. */
import type { NodeDocument } from '#documents/nodes.ts';
import { stateWord } from '../../components/value-state.ts';
import type { Rates } from '../../traffic/traffic-history.ts';
import { bitRateText, perSecondText } from '../../traffic/traffic-text.ts';

export interface NodeState {
  readonly tone: 'good' | 'bad' | 'waiting' | 'neutral';
  readonly text: string;
  /** Why it is not reached, or which value has which fault. */
  readonly reason: string | undefined;
}

const healthy: ReadonlySet<string> = new Set(['CONFIGURED', 'OBTAINED', 'DISCOVERED']);

export function nodeState({ isThisNode, link, tunnel }: NodeDocument): NodeState {
  if (isThisNode) return { tone: 'neutral', text: 'this node', reason: undefined };
  if (!link) return { tone: 'waiting', text: 'unknown', reason: 'this node is not configured yet' };
  if (link.kind === 'none')
    return { tone: 'bad', text: 'not reached', reason: link.whyUnreachable ?? undefined };
  const state = link.values.state ?? 'NONEXISTENT';
  if (healthy.has(state)) {
    const routes = `${link.kind === 'wireguard' ? 'encrypted, ' : ''}routes ${stateWord(state)}`;
    const text = tunnel ? `tunnel ${stateWord(tunnel.state)}` : routes;
    return { tone: 'good', text, reason: undefined };
  }
  const [fault] = link.values.faults;
  return {
    tone: state === 'PENDING' ? 'waiting' : 'bad',
    text: tunnel && !healthy.has(tunnel.state) ? `tunnel ${tunnel.state}` : `values ${state}`,
    reason: fault && `${fault.key}${fault.error === undefined ? '' : `: ${fault.error}`}`,
  };
}

/** Last line of a box on the map: the traffic of the tunnel, or the ID. */
export function lastLine({ id, tunnel }: NodeDocument, rates: Rates | undefined): string {
  if (!tunnel) return `ID ${id}`;
  if (!rates) return 'rates unknown';
  const { inBits, outBits, drops } = rates;
  return `${bitRateText(inBits + outBits)}, drops ${perSecondText(drops)}`;
}
