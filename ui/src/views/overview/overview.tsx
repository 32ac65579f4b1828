/** The first view: what needs attention, and the state of the node. */
import type { NodeStatus } from '#documents/cluster.ts';
import type { EnforcementDocument } from '#documents/enforcement.ts';
import type { IpamDocument } from '#documents/ipam.ts';
import type { ComponentStatus, ProbeDocument } from '#documents/probes.ts';
import type { ValueSearch } from '#documents/scheduler/value-search.ts';
import { agentNow } from '../../agent/agent-time.ts';
import { eventRate, recentEvents } from '../../agent/event-stream.ts';
import { documentAddress } from '../../agent/request.ts';
import { type Loaded, useDocument } from '../../agent/use-document.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { Remedy } from '../../components/remedy.tsx';
import { ageText, utcText } from '../../components/times.ts';
import { href } from '../../location.ts';
import { type Concern, concernsOf } from './attention.ts';
import { DeniedFlows } from './denied-flows.tsx';
import { EventRateBars } from './event-rate-bars.tsx';

const REFRESH_MS = 5_000;
/** Of those that need attention; the view of values has all. */
const MAX_VALUES = 20;

export function Overview() {
  const readiness = useDocument<ProbeDocument>('readiness', {
    everyMs: REFRESH_MS,
    afterEvents: true,
  });
  const values = useDocument<ValueSearch>(`scheduler/values?state=problem&limit=${MAX_VALUES}`, {
    everyMs: REFRESH_MS,
    afterEvents: true,
  });
  const status = useDocument<NodeStatus>('contiv/v1/status', {
    everyMs: REFRESH_MS,
    afterEvents: true,
  });
  const enforcement = useDocument<EnforcementDocument>('contiv/v1/policy/enforcement', {
    everyMs: REFRESH_MS,
    afterEvents: true,
  });
  return (
    <>
      <Attention status={status} enforcement={enforcement} values={values} />
      <div class="cards">
        <Node />
        <Pods />
        <Values values={values} />
        <Events />
      </div>
      <DeniedFlows />
      <Components readiness={readiness} />
    </>
  );
}

interface AttentionProps {
  readonly status: Loaded<NodeStatus>;
  readonly enforcement: Loaded<EnforcementDocument>;
  readonly values: Loaded<ValueSearch>;
}

function Attention({ status, enforcement, values }: AttentionProps) {
  const now = agentNow();
  const { policies: unenforced = [] } = enforcement.document ?? {};
  const { values: problems = [], matches = 0 } = values.document ?? {};
  const concerns = concernsOf(status.document, unenforced, problems, recentEvents.value);
  const isKnown = status.document && !status.error && values.document && !values.error;
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      {isKnown && concerns.length === 0 && (
        <p class="all-well">
          <Badge tone="good">OK</Badge> All components work, and all values are configured.
        </p>
      )}
      {concerns.length > 0 && (
        <ul class="concerns">
          {concerns.map((concern) => (
            <ConcernItem key={`${concern.subject} ${concern.reason}`} concern={concern} now={now} />
          ))}
        </ul>
      )}
      {matches > problems.length && (
        <p>
          <a href={href('values', { state: 'problem' })}>All {matches} values with problems</a>
        </p>
      )}
    </section>
  );
}

function ConcernItem({ concern, now }: { readonly concern: Concern; readonly now: number }) {
  const { severity, subject, reason, since, view, query, help } = concern;
  return (
    <li>
      <Badge tone={severity === 'error' ? 'bad' : 'waiting'}>{severity}</Badge>{' '}
      {view === '' ? <strong>{subject}</strong> : <a href={href(view, query)}>{subject}</a>}
      {since !== undefined && (
        <span class="quiet">
          {' '}
          for {ageText(now - since)}, since {utcText(new Date(since).toISOString())}
        </span>
      )}
      <div class="reason">{reason}</div>
      {help && <Remedy text={help.remedy} component={help.component} code={help.code} />}
    </li>
  );
}

function Node() {
  const ipam = useDocument<IpamDocument>('contiv/v1/ipam', { afterEvents: true });
  return (
    <section class="card" aria-labelledby="node">
      <h2 id="node">Node</h2>
      <Loading of={ipam} what="the addresses of the node">
        {({ nodeName, nodeId, nodeIP, podSubnetThisNode }) => (
          <>
            <p class="figure">{nodeName}</p>
            <dl class="facts">
              <dt>ID</dt>
              <dd>{nodeId}</dd>
              <dt>Address</dt>
              <dd>{nodeIP}</dd>
              <dt>Pods in</dt>
              <dd>{podSubnetThisNode}</dd>
            </dl>
          </>
        )}
      </Loading>
    </section>
  );
}

interface Allocations {
  readonly Pods: readonly unknown[];
}

function Pods() {
  const allocations = useDocument<Allocations>('contiv/v1/ipam/allocations', { afterEvents: true });
  return (
    <section class="card" aria-labelledby="pods">
      <h2 id="pods">Pods</h2>
      <Loading of={allocations} what="pods">
        {({ Pods: pods }) => (
          <>
            <p class="figure">{pods.length}</p>
            <p>
              <a href={href('pods')}>attached to this node</a>
            </p>
          </>
        )}
      </Loading>
    </section>
  );
}

function Values({ values }: { readonly values: Loaded<ValueSearch> }) {
  return (
    <section class="card" aria-labelledby="values">
      <h2 id="values">Configuration of VPP and Linux</h2>
      <Loading of={values} what="values">
        {({ states }) => (
          <>
            <p class="figure">{Object.values(states).reduce((sum, count) => sum + count, 0)}</p>
            <ul class="states">
              {Object.entries(states).map(([state, count]) => (
                <li key={state}>
                  <a href={href('values', { state })}>{count}</a> <ValueStateBadge state={state} />
                </li>
              ))}
            </ul>
          </>
        )}
      </Loading>
    </section>
  );
}

function Events() {
  const now = agentNow();
  // Read, so that new events are counted at once.
  const last = recentEvents.value.at(-1);
  return (
    <section class="card" aria-labelledby="events">
      <h2 id="events">Events in the last minute</h2>
      <p class="figure">{eventRate.lastMinute(now)}</p>
      <EventRateBars counts={eventRate.series(now)} />
      <p>
        {last ? (
          <>
            The last one: <a href={href('events', { event: String(last.SeqNum) })}>{last.Name}</a>,{' '}
            {ageText(now - Date.parse(last.ProcessingEnd))} ago
          </>
        ) : (
          'None is known yet.'
        )}
      </p>
    </section>
  );
}

function Components({ readiness }: { readonly readiness: Loaded<ProbeDocument> }) {
  const now = agentNow();
  return (
    <section aria-labelledby="components">
      <h2 id="components">Components</h2>
      <Loading of={readiness} what="the state of the agent">
        {({ build_version = '', start_time, PluginStatus }) => (
          <>
            <p class="quiet">
              contiv-agent {build_version}
              {start_time !== undefined && `, started ${ageText(now - start_time * 1_000)} ago`}
            </p>
            <table class="components">
              <caption>
                Parts of the agent, and since when each has its state.{' '}
                <a href={documentAddress('readiness')}>REST</a>
              </caption>
              <thead>
                <tr>
                  <th scope="col">Component</th>
                  <th scope="col">State</th>
                  <th scope="col">For</th>
                  <th scope="col">Reason</th>
                </tr>
              </thead>
              <tbody>
                {Object.entries(PluginStatus).map(([name, status]) => (
                  <ComponentRow key={name} name={name} status={status} now={now} />
                ))}
              </tbody>
            </table>
          </>
        )}
      </Loading>
    </section>
  );
}

interface ComponentRowProps {
  readonly name: string;
  readonly status: ComponentStatus;
  readonly now: number;
}

const stateTexts = ['starting', 'OK', 'error'] as const;
const stateTones = ['waiting', 'good', 'bad'] as const;

function ComponentRow({ name, status, now }: ComponentRowProps) {
  const { state = 0, error = '', last_change } = status;
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <Badge tone={stateTones[state] ?? 'neutral'}>{stateTexts[state] ?? String(state)}</Badge>
      </td>
      <td>{last_change === undefined ? '' : ageText(now - last_change * 1_000)}</td>
      <td>{error}</td>
    </tr>
  );
}
