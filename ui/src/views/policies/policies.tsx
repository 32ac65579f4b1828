/** The policies that apply to the pods of this node: `#/policies`, of one pod `#/policies?pod=namespace/name`. */
import type { PolicyPodSummary } from '#documents/policies.ts';
import { documentAddress } from '../../agent/request.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { changeQuery, href, place } from '../../location.ts';
import { Enforcement } from './enforcement.tsx';
import { PodPolicies } from './pod-policies.tsx';

const MAX_ROWS = 200;

export function Policies() {
  const pod = place.value.query.get('pod') ?? '';
  return pod === '' ? <List /> : <PodPolicies key={pod} name={pod} />;
}

function List() {
  const { text, settled, change } = useSearch('search');
  const show = place.value.query.get('show') ?? '';
  const list = useKeptDocument(
    useDocument<readonly PolicyPodSummary[]>('contiv/v1/policy/pods', {
      afterEvents: true,
      everyMs: 30_000,
    }),
  );
  return (
    <>
      <Enforcement />
      <h2>Pods</h2>
      <div class="filters">
        <label>
          Search
          <input
            type="search"
            size={40}
            value={text}
            placeholder="pod, address, policy"
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </label>
        <label>
          Show
          <select
            value={show}
            onChange={({ currentTarget }) => changeQuery({ show: currentTarget.value })}
          >
            <option value="">all pods</option>
            <option value="policies">pods with policies</option>
            <option value="problems">pods with problems</option>
          </select>
        </label>
      </div>
      <Loading of={list} what="policies">
        {(pods) => {
          const found = pods.filter((pod) => matchesSearch(pod, settled) && isWanted(pod, show));
          const shown = found.slice(0, MAX_ROWS);
          return (
            <>
              <p role="status">
                {pods.length === 0
                  ? 'No pod is attached to this node.'
                  : `${shown.length.toLocaleString('en-US')} of ${pods.length.toLocaleString('en-US')} pods shown`}
                {found.length > shown.length && '. Search for others.'}
              </p>
              {shown.length > 0 && <Table pods={shown} />}
            </>
          );
        }}
      </Loading>
    </>
  );
}

function isWanted({ ingress, egress, notAsDefined }: PolicyPodSummary, show: string): boolean {
  if (show === 'problems') return notAsDefined.length > 0;
  return show !== 'policies' || ingress.length + egress.length > 0;
}

/** Whether each word is in the name, an address or a policy of the pod. */
function matchesSearch(pod: PolicyPodSummary, search: string): boolean {
  const { name, addresses, ingress, egress } = pod;
  const text = [name, ...addresses, ...ingress, ...egress].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Table({ pods }: { readonly pods: readonly PolicyPodSummary[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of policies">
      <table class="policies">
        <caption>
          Pods of this node, and the policies that decide what they receive (ingress) and send
          (egress). <a href={documentAddress('contiv/v1/policy/pods')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Pod</th>
            <th scope="col">Ingress</th>
            <th scope="col">Egress</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {pods.map((pod) => (
            <tr key={pod.attachment}>
              <th scope="row">
                <a href={href('policies', { pod: pod.name })}>{pod.name}</a>
              </th>
              <td>
                <Names of={pod.ingress} />
              </td>
              <td>
                <Names of={pod.egress} />
              </td>
              <td>
                {pod.notAsDefined.length > 0 && (
                  <>
                    <Badge tone="bad">permits less</Badge>
                    <div class="fault">{pod.notAsDefined.join(', ')}</div>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Names({ of: names }: { readonly of: readonly string[] }) {
  return <span class={names.length === 0 ? 'quiet' : ''}>{names.join(', ') || 'open'}</span>;
}
