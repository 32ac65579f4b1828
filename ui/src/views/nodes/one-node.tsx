/** One node: its addresses, and the traffic of the tunnel to it. */

import { useMemo } from 'preact/hooks';
import type { NodeDocument, NodeList } from '#documents/nodes.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { utcText } from '../../components/times.ts';
import { href } from '../../location.ts';
import { TrafficCharts } from '../../traffic/charts.tsx';
import { CountersTable } from '../../traffic/counters-table.tsx';
import { trafficText } from '../../traffic/traffic-text.ts';
import { nodeState } from './node-state.ts';
import { addToHistory, latestRates, pointsOf } from './node-traffic.ts';

export function OneNode({ name }: { readonly name: string }) {
  const loaded = useDocument<NodeList>(`contiv/v1/nodes?search=${encodeURIComponent(name)}`, {
    everyMs: 5_000,
    afterEvents: true,
  });
  return (
    <>
      <p>
        <a href={href('nodes')}>All nodes</a>
      </p>
      <h2>{name}</h2>
      <Loading of={loaded} what="the node">
        {(list) => <Found list={list} name={name} />}
      </Loading>
    </>
  );
}

function Found({ list, name }: { readonly list: NodeList; readonly name: string }) {
  useMemo(() => addToHistory(list), [list]);
  const node = list.nodes.find((one) => one.name === name);
  if (!node)
    return (
      <p class="problem" role="alert">
        The cluster has no node {name} with an ID.
      </p>
    );
  return (
    <>
      <Facts node={node} />
      {node.sessions.length > 0 && <Sessions sessions={node.sessions} />}
      {node.tunnel && <Tunnel node={node} tunnel={node.tunnel} problem={list.countersError} />}
      <Faults node={node} />
    </>
  );
}

function Facts({ node }: { readonly node: NodeDocument }) {
  const { id, vppAddresses, managementAddresses, podCidr, problems, link } = node;
  const { tone, text, reason } = nodeState(node);
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd>
        <Badge tone={tone}>{text}</Badge> {reason}
      </dd>
      <dt>ID</dt>
      <dd>{id}</dd>
      <dt>Addresses of VPP</dt>
      <dd>{vppAddresses.join(', ') || 'none'}</dd>
      <dt>Kubernetes addresses</dt>
      <dd>{managementAddresses.join(', ') || 'none'}</dd>
      {podCidr !== '' && (
        <>
          <dt>Pod CIDR of the Node object</dt>
          <dd>{podCidr}</dd>
        </>
      )}
      {problems.length > 0 && (
        <>
          <dt>Not used of its records</dt>
          {problems.map((problem) => (
            <dd key={problem} class="problem">
              {problem}
            </dd>
          ))}
        </>
      )}
      {link?.address && (
        <>
          <dt>Reached</dt>
          <dd>
            at {link.address} {wayText(node)}
          </dd>
        </>
      )}
    </dl>
  );
}

function wayText({ link, tunnel }: NodeDocument): string {
  if (tunnel) {
    const inClearText = link?.encryption === 'clear-text' ? ', in clear text' : '';
    return `through a VXLAN tunnel${inClearText}`;
  }
  return link?.encryption === 'encrypted'
    ? 'encrypted by WireGuard'
    : 'by routes, without an overlay';
}

function Sessions({ sessions }: Pick<NodeDocument, 'sessions'>) {
  return (
    <section>
      <h3>Sessions of WireGuard</h3>
      <table>
        <caption>
          One for each of the two keys of a node; connections are divided between them
        </caption>
        <thead>
          <tr>
            <th scope="col">Interface</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
            <th scope="col">Packets take it</th>
            <th scope="col">Key of the node</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map(({ interface: name, publicKey, isUsed, isEstablished, since }) => (
            <tr key={name}>
              <th scope="row">
                <a href={href('values', { key: `config/vpp/v2/interfaces/${name}` })}>
                  <code>{name}</code>
                </a>
              </th>
              <td>
                <Badge tone={isEstablished ? 'good' : 'bad'}>
                  {isEstablished ? 'established' : 'none'}
                </Badge>
              </td>
              <td>
                <time dateTime={since}>{utcText(since)}</time>
              </td>
              <td>{isUsed ? 'yes' : 'no'}</td>
              <td>
                <code>{publicKey}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface TunnelProps {
  readonly node: NodeDocument;
  readonly tunnel: NonNullable<NodeDocument['tunnel']>;
  readonly problem: string | null;
}

function Tunnel({ node, tunnel, problem }: TunnelProps) {
  return (
    <section>
      <h3>Tunnel</h3>
      <p>
        <a href={href('values', { key: tunnel.key })}>
          <code>{tunnel.interface}</code>
        </a>{' '}
        <ValueStateBadge state={tunnel.state} />
      </p>
      {problem === null ? (
        <p>Now: {trafficText(latestRates(node))}.</p>
      ) : (
        <p class="problem">Counters are unknown: {problem}</p>
      )}
      <TrafficCharts points={pointsOf(node)} />
      {tunnel.counters && (
        <details>
          <summary>All counters</summary>
          <CountersTable
            counters={tunnel.counters}
            side="vpp"
            caption="Counters of VPP; in is what this node receives from the other one"
          />
        </details>
      )}
    </section>
  );
}

function Faults({ node }: { readonly node: NodeDocument }) {
  const faults = node.link?.values.faults ?? [];
  if (faults.length === 0) return null;
  return (
    <section>
      <h3>Faults in the configuration</h3>
      <table>
        <caption>Values for this node that are not in their desired state, up to 10</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {faults.map(({ key, state, error = '' }) => (
            <tr key={key}>
              <th scope="row">
                <a href={href('values', { key })}>
                  <code>{key}</code>
                </a>
              </th>
              <td>
                <ValueStateBadge state={state} />
              </td>
              <td>{error}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
