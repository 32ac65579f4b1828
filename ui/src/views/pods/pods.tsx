/** The pods of this node, or one of them: `#/pods`, `#/pods?pod=namespace/name`. */
import type { PodList, PodSummary } from '#documents/pods.ts';
import { agentNow } from '../../agent/agent-time.ts';
import { documentAddress } from '../../agent/request.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { ageText } from '../../components/times.ts';
import { href, place } from '../../location.ts';
import { Sparkline } from '../../traffic/charts.tsx';
import { bitRateText, perSecondText } from '../../traffic/traffic-text.ts';
import { Pod } from './pod.tsx';
import { type PodTraffic, usePodTraffic } from './pod-traffic.ts';

export function Pods() {
  const pod = place.value.query.get('pod') ?? '';
  return pod === '' ? <List /> : <Pod key={pod} name={pod} />;
}

function List() {
  const { text, settled, change } = useSearch('search');
  const query = new URLSearchParams({ ...(settled !== '' && { search: settled }) }).toString();
  const list = useKeptDocument(
    useDocument<PodList>(`contiv/v1/pods?${query}`, { afterEvents: true, everyMs: 30_000 }),
  );
  const traffic = usePodTraffic('owner=pod&limit=1000');
  return (
    <>
      <div class="filters">
        <label>
          Search
          <input
            type="search"
            size={40}
            value={text}
            placeholder="name, address, container, interface"
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </label>
      </div>
      <Loading of={list} what="pods">
        {({ total, matching, pods }) => (
          <>
            <p role="status">
              {total === 0
                ? 'No pod is attached to this node.'
                : `${pods.length.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} pods shown`}
              {matching > pods.length && '. Search for others.'}
            </p>
            {traffic.problem !== undefined && (
              <p class="problem">Rates are unknown: {traffic.problem}</p>
            )}
            {pods.length > 0 && <Table pods={pods} traffic={traffic} />}
          </>
        )}
      </Loading>
    </>
  );
}

interface TableProps {
  readonly pods: readonly PodSummary[];
  readonly traffic: PodTraffic;
}

function Table({ pods, traffic }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of pods">
      <table class="pods">
        <caption>
          Pods that are attached to this node. In and out are seen from the pod; rates are those of
          the last seconds, lines those of up to five minutes.{' '}
          <a href={documentAddress('contiv/v1/pods')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Addresses</th>
            <th scope="col">Interface in VPP</th>
            <th scope="col">State</th>
            <th scope="col">Attached</th>
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
          {pods.map((pod) => (
            <Row
              key={`${pod.containerId} ${pod.interfaces?.linux.name}`}
              pod={pod}
              traffic={traffic}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ pod, traffic }: { readonly pod: PodSummary; readonly traffic: PodTraffic }) {
  const { namespace, name, addresses, interfaces, containerId } = pod;
  const vpp = interfaces?.vpp.name ?? '';
  const points = traffic.points(vpp);
  const rates = traffic.problem === undefined ? points.at(-1)?.rates : undefined;
  return (
    <tr>
      <th scope="row">
        {name === '' ? (
          <span class="quiet">unknown, container {containerId.slice(0, 12)}</span>
        ) : (
          <a href={href('pods', { pod: `${namespace}/${name}` })}>
            {namespace}/{name}
          </a>
        )}
      </th>
      <td>{addresses.length === 0 ? <span class="quiet">none</span> : addresses.join(', ')}</td>
      <td class="interface">
        {interfaces ? (
          <>
            {traffic.vppName(vpp) ?? <span class="quiet">not in VPP</span>}{' '}
            <code title={vpp}>{vpp}</code>
          </>
        ) : (
          <span class="quiet">none</span>
        )}
      </td>
      <td>
        <PodState pod={pod} />
      </td>
      <td>
        <Attached pod={pod} />
      </td>
      <td>{interfaces && <Sparkline points={points} />}</td>
      <td class="number">{rates ? bitRateText(rates.inBits) : '–'}</td>
      <td class="number">{rates ? bitRateText(rates.outBits) : '–'}</td>
      <td class={rates && rates.drops > 0 ? 'number lossy' : 'number'}>
        {rates ? perSecondText(rates.drops) : '–'}
      </td>
    </tr>
  );
}

export function PodState({ pod }: { readonly pod: PodSummary }) {
  const { values, isDisplaced } = pod;
  const [fault] = values.faults;
  if (values.state === null)
    return (
      <>
        <Badge tone="bad">not connected</Badge>
        {isDisplaced && <div class="quiet">its path leads to another network namespace</div>}
      </>
    );
  return (
    <>
      <ValueStateBadge state={values.state} />
      {fault && (
        <div class="fault">
          <a href={href('values', { key: fault.key })}>{fault.key}</a>
          {fault.error !== undefined && `: ${fault.error}`}
        </div>
      )}
    </>
  );
}

function Attached({ pod }: { readonly pod: PodSummary }) {
  if (pod.attachedAt !== null) return <>{ageText(agentNow() - Date.parse(pod.attachedAt))} ago</>;
  return <span class="quiet">{pod.isAdopted ? 'found running' : 'unknown'}</span>;
}
