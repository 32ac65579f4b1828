/** All nodes of the cluster: what each says about itself, and why others say nothing. */
import type { ClusterNode, ClusterProblem, ClusterStatus } from '#documents/cluster.ts';
import { documentAddress } from '../../agent/request.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { Remedy } from '../../components/remedy.tsx';
import { ageText, utcText } from '../../components/times.ts';
import type { Tone } from '../../components/tone.ts';
import { hrefOf } from '../../location.ts';

/** Each is a request to each node. */
const REFRESH_MS = 10_000;

export function Cluster() {
  const { text, settled, change } = useSearch('search');
  const path = `contiv/v1/cluster?search=${encodeURIComponent(settled)}`;
  const loaded = useKeptDocument(
    useDocument<ClusterStatus>(path, { everyMs: REFRESH_MS, source: 'serving' }),
  );
  return (
    <>
      <div class="filters">
        <label>
          Search by name or ID
          <input
            type="search"
            value={text}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </label>
      </div>
      <Loading of={loaded} what="the nodes of the cluster">
        {(status) => <Found status={status} />}
      </Loading>
    </>
  );
}

function Found({ status }: { readonly status: ClusterStatus }) {
  const { nodes, matching, total, problems } = status;
  return (
    <>
      <p role="status">
        {headline(status)}
        {matching < total && ` Found: ${matching} of ${total} nodes.`}
        {nodes.length < matching && ` Asked: ${nodes.length}. Search for others.`}
      </p>
      {nodes.length > 0 && <Table nodes={nodes} thisNode={status.thisNode} />}
      <Silent nodes={nodes} />
      {problems.length > 0 && (
        <section aria-labelledby="problems">
          <h2 id="problems">Problems</h2>
          <ul class="problems">
            {problems.map((problem) => (
              <Problem
                key={`${problem.component} ${problem.text}`}
                problem={problem}
                thisNode={status.thisNode}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function headline({ nodes, problems }: ClusterStatus): string {
  const words = ['ready', 'starting', 'not ready'].flatMap((state) => {
    const count = nodes.filter(({ status }) => status?.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  });
  const silent = nodes.filter(({ status }) => status === null).length;
  if (silent > 0) words.unshift(`${silent} without an answer`);
  const found = problems.length === 1 ? '1 problem' : `${problems.length || 'No'} problems`;
  return `${words.join(', ')}${words.length > 0 ? '. ' : ''}${found}.`;
}

interface TableProps {
  readonly nodes: readonly ClusterNode[];
  readonly thisNode: string;
}

function Table({ nodes, thisNode }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of the cluster">
      <table class="cluster">
        <caption>
          What each node says about itself; {thisNode} asks them. A name opens the page of the node.{' '}
          <a href={documentAddress('contiv/v1/cluster', 'serving')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col" class="number">
              ID
            </th>
            <th scope="col">State</th>
            <th scope="col">For</th>
            <th scope="col" class="number">
              Problems
            </th>
            <th scope="col">Agent</th>
            <th scope="col">VPP</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <Row key={node.name} node={node} thisNode={thisNode} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  ready: 'good',
  starting: 'waiting',
  'not ready': 'bad',
};

function Row({ node, thisNode }: { readonly node: ClusterNode; readonly thisNode: string }) {
  const { name, id, status, failure } = node;
  return (
    <tr>
      <th scope="row">
        <NodeLink name={name} thisNode={thisNode} />
      </th>
      <td class="number">{id}</td>
      {status ? (
        <>
          <td>
            <Badge tone={tones[status.state] ?? 'neutral'}>{status.state}</Badge>
          </td>
          <td>{ageOf(status.since, status.now)}</td>
          <td class="number">{status.problems.length}</td>
          <td>{status.agent}</td>
          <td>{status.vpp ?? 'unknown'}</td>
        </>
      ) : (
        <td colSpan={5}>
          <Badge tone="bad">no answer</Badge> {failure?.text}
        </td>
      )}
    </tr>
  );
}

function ageOf(since: string | null, now: string): string {
  return since === null ? '' : ageText(Date.parse(now) - Date.parse(since));
}

function NodeLink({ name, thisNode }: { readonly name: string; readonly thisNode: string }) {
  return <a href={hrefOf(name === thisNode ? undefined : name, '')}>{name}</a>;
}

/** What to do about nodes that have not answered, once for each reason. */
function Silent({ nodes }: { readonly nodes: readonly ClusterNode[] }) {
  const failed = nodes.flatMap(({ name, failure }) => (failure ? [{ name, ...failure }] : []));
  if (failed.length === 0) return null;
  return (
    <section aria-labelledby="silent">
      <h2 id="silent">Without an answer</h2>
      <ul class="problems">
        {[...Map.groupBy(failed, ({ text }) => text)].map(([text, its]) => (
          <li key={text}>
            <strong>{its.map(({ name }) => name).join(', ')}</strong>
            <p>{text}</p>
            <Remedy text={its[0]!.remedy} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ProblemProps {
  readonly problem: ClusterProblem;
  readonly thisNode: string;
}

function Problem({ problem, thisNode }: ProblemProps) {
  const { component, severity, text, code, remedy, nodes } = problem;
  return (
    <li>
      <Badge tone={severity === 'error' ? 'bad' : 'waiting'}>{severity}</Badge>{' '}
      <strong>{component}</strong> on{' '}
      {nodes.map(({ name, since }, at) => (
        <span key={name}>
          {at > 0 && ', '}
          <NodeLink name={name} thisNode={thisNode} />
          {since !== null && <span class="quiet"> since {utcText(since)}</span>}
        </span>
      ))}
      <p>{text}</p>
      <Remedy text={remedy} component={component} code={code} />
    </li>
  );
}
