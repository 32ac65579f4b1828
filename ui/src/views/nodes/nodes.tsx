/** The nodes of the cluster and the tunnels to them: `#/nodes`, with one of them in full `#/nodes?node=name`. */

import { useMemo } from 'preact/hooks';
import type { NodeDocument, NodeList } from '#documents/nodes.ts';
import { documentAddress } from '../../agent/request.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { changeQuery, href, place } from '../../location.ts';
import { Sparkline } from '../../traffic/charts.tsx';
import { bitRateText, perSecondText } from '../../traffic/traffic-text.ts';
import { MAX_OTHERS } from './map-layout.ts';
import { NodeMap } from './node-map.tsx';
import { nodeState } from './node-state.ts';
import { addToHistory, latestRates, pointsOf } from './node-traffic.ts';
import { OneNode } from './one-node.tsx';

const COLLECTION_MS = 5_000;

export function Nodes() {
  const name = place.value.query.get('node') ?? '';
  return name === '' ? <List /> : <OneNode key={name} name={name} />;
}

function List() {
  const { text, settled, change } = useSearch('search');
  const show = place.value.query.get('show') ?? '';
  const query = new URLSearchParams({
    ...(settled !== '' && { search: settled }),
    ...(show !== '' && { show }),
  }).toString();
  const list = useKeptDocument(
    useDocument<NodeList>(`contiv/v1/nodes?${query}`, {
      everyMs: COLLECTION_MS,
      afterEvents: true,
    }),
  );
  return (
    <>
      <div class="filters">
        <label>
          Search
          <input
            type="search"
            size={40}
            value={text}
            placeholder="ID, name, address"
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </label>
        <label>
          Show
          <select
            value={show}
            onChange={({ currentTarget }) => changeQuery({ show: currentTarget.value })}
          >
            <option value="">all nodes</option>
            <option value="problems">nodes with problems</option>
          </select>
        </label>
      </div>
      <Loading of={list} what="nodes">
        {(document) => <Found list={document} />}
      </Loading>
    </>
  );
}

function Found({ list }: { readonly list: NodeList }) {
  const { total, matching, nodes, countersError } = list;
  useMemo(() => addToHistory(list), [list]);
  const others = nodes.filter(({ isThisNode }) => !isThisNode);
  const rates = (node: NodeDocument) => (countersError === null ? latestRates(node) : undefined);
  return (
    <>
      <p role="status">
        {`${nodes.length.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} nodes shown`}
        {matching > nodes.length && '. Search for others.'}
      </p>
      {countersError !== null && (
        <p class="problem">The counters of the tunnels are unknown: {countersError}</p>
      )}
      {others.length > 0 && others.length <= MAX_OTHERS && (
        <NodeMap
          thisNode={nodes.find(({ isThisNode }) => isThisNode)}
          others={others}
          rates={rates}
        />
      )}
      {others.length > MAX_OTHERS && (
        <p class="quiet">
          The map is drawn for up to {MAX_OTHERS} other nodes: search for some of them.
        </p>
      )}
      {nodes.length > 0 && <Table nodes={nodes} rates={rates} />}
    </>
  );
}

interface TableProps {
  readonly nodes: readonly NodeDocument[];
  readonly rates: (node: NodeDocument) => ReturnType<typeof latestRates>;
}

function Table({ nodes, rates }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of nodes">
      <table class="nodes">
        <caption>
          Nodes of the cluster as this one knows them. In is what it receives from the other node;
          rates are those of the last seconds, lines those of up to five minutes.{' '}
          <a href={documentAddress('contiv/v1/nodes')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col" class="number">
              ID
            </th>
            <th scope="col">Address of VPP</th>
            <th scope="col">Kubernetes addresses</th>
            <th scope="col">Tunnel</th>
            <th scope="col">State</th>
            <th scope="col">Traffic</th>
            <th scope="col" class="number">
              In
            </th>
            <th scope="col" class="number">
              Out
            </th>
            <th scope="col" class="number">
              Drops
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <Row key={node.name} node={node} rates={rates(node)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly node: NodeDocument;
  readonly rates: ReturnType<typeof latestRates>;
}

function Row({ node, rates }: RowProps) {
  const { id, name, vppAddresses, managementAddresses, tunnel } = node;
  const { tone, text, reason } = nodeState(node);
  return (
    <tr>
      <th scope="row">
        <a href={href('nodes', { node: name })}>{name}</a>
      </th>
      <td class="number">{id}</td>
      <td>{vppAddresses.join(', ') || <span class="quiet">none</span>}</td>
      <td>{managementAddresses.join(', ') || <span class="quiet">none</span>}</td>
      <td>{tunnel ? <code>{tunnel.interface}</code> : <span class="quiet">none</span>}</td>
      <td>
        <Badge tone={tone}>{text}</Badge>
        {reason !== undefined && <div class="fault">{reason}</div>}
      </td>
      <td>{tunnel && <Sparkline points={pointsOf(node)} />}</td>
      <td class="number">{rates ? bitRateText(rates.inBits) : '–'}</td>
      <td class="number">{rates ? bitRateText(rates.outBits) : '–'}</td>
      <td class={rates && rates.drops > 0 ? 'number lossy' : 'number'}>
        {rates ? perSecondText(rates.drops) : '–'}
      </td>
    </tr>
  );
}
