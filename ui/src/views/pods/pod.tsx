/** One pod: its interface and traffic, the policies and services that apply to it, and its values. */
import type { PodAttachment, PodDocument, ServiceUse } from '#documents/pods.ts';
import type { ValueState } from '#documents/value-states.ts';
import { agentNow } from '../../agent/agent-time.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { hostAndPort } from '../../components/host-and-port.ts';
import { Loading } from '../../components/loading.tsx';
import { ageText } from '../../components/times.ts';
import { href } from '../../location.ts';
import { TrafficCharts } from '../../traffic/charts.tsx';
import { CountersTable } from '../../traffic/counters-table.tsx';
import { bitRateText, trafficText } from '../../traffic/traffic-text.ts';
import { type PodTraffic, usePodTraffic } from './pod-traffic.ts';

const MAX_ROWS = 200;

/** @param name `namespace/name` */
export function Pod({ name }: { readonly name: string }) {
  const [namespace = '', pod = ''] = name.split('/', 2);
  const path = `contiv/v1/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
  const loaded = useDocument<PodDocument>(path, { afterEvents: true, everyMs: 30_000 });
  const traffic = usePodTraffic(`pod=${encodeURIComponent(name)}`);
  const isGone = loaded.error?.status === 404;
  return (
    <>
      <p>
        <a href={href('pods')}>All pods</a> · <a href={href('flows', { pod: name })}>Its flows</a>
      </p>
      <h2>{name}</h2>
      {isGone ? (
        <p class="problem" role="alert">
          {loaded.document
            ? `Pod ${name} has been detached from this node.`
            : `Pod ${name} is not attached to this node.`}
        </p>
      ) : (
        <Loading of={loaded} what="the pod">
          {({ attachments, services, servicesTotal }) => (
            <>
              {attachments.map((attachment) => (
                <Attachment
                  key={attachment.containerId}
                  attachment={attachment}
                  traffic={traffic}
                  isOnly={attachments.length === 1}
                />
              ))}
              <Connectivity name={name} attachments={attachments} />
              <Services services={services} total={servicesTotal} />
              {attachments.map((attachment) => (
                <Values key={attachment.containerId} attachment={attachment} />
              ))}
            </>
          )}
        </Loading>
      )}
    </>
  );
}

interface AttachmentProps {
  readonly attachment: PodAttachment;
  readonly traffic: PodTraffic;
  readonly isOnly: boolean;
}

function Attachment({ attachment, traffic, isOnly }: AttachmentProps) {
  const { containerId, networkNamespace, addresses, interfaces, attachedAt, values } = attachment;
  return (
    <section>
      {!isOnly && <h3>Container {containerId.slice(0, 12)}</h3>}
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {values.state === null ? (
            <Badge tone="bad">not connected</Badge>
          ) : (
            <ValueStateBadge state={values.state} />
          )}{' '}
          {values.state === null
            ? 'Nothing is configured for it.'
            : `${values.total - values.faults.length} of ${values.total} values are in their desired state`}
          {attachment.isDisplaced &&
            ' The path of its network namespace leads to another one, which was made later.'}
        </dd>
        <dt>Addresses</dt>
        <dd>{addresses.join(', ') || 'none'}</dd>
        {attachment.bandwidth && (
          <>
            <dt>Bandwidth</dt>
            <dd>
              <Bandwidth bandwidth={attachment.bandwidth} />
            </dd>
          </>
        )}
        <dt>Attached</dt>
        <dd>
          {attachedAt === null
            ? attachment.isAdopted
              ? 'found running by the agent; since when is unknown'
              : 'since when is unknown'
            : `${ageText(agentNow() - Date.parse(attachedAt))} ago, ${attachedAt}`}
        </dd>
        <dt>Container</dt>
        <dd>
          <code>{containerId}</code>
        </dd>
        <dt>Network namespace</dt>
        <dd>{networkNamespace === '' ? 'not found' : <code>{networkNamespace}</code>}</dd>
        {interfaces && (
          <>
            <dt>Interface in the pod</dt>
            <dd>
              <code>{interfaces.linux.hostName}</code>, value <code>{interfaces.linux.name}</code>
            </dd>
            <dt>Interface in VPP</dt>
            <dd>
              {interfaces.vpp.swIfIndex === null ? (
                'VPP does not have it'
              ) : (
                <>
                  <code>{traffic.vppName(interfaces.vpp.name) ?? '?'}</code>, sw_if_index{' '}
                  {interfaces.vpp.swIfIndex}
                </>
              )}
              , value <code>{interfaces.vpp.name}</code>
            </dd>
          </>
        )}
      </dl>
      {interfaces && <Traffic name={interfaces.vpp.name} traffic={traffic} />}
    </section>
  );
}

interface BandwidthProps {
  readonly bandwidth: NonNullable<PodAttachment['bandwidth']>;
}

function Bandwidth({ bandwidth: { ingress, egress, problems } }: BandwidthProps) {
  const limit = (rate: number | null) => (rate === null ? 'no limit' : bitRateText(rate));
  return (
    <>
      in: {limit(ingress)}, out: {limit(egress)}
      {problems.map((problem) => (
        <div key={problem} class="fault">
          Not applied: {problem}
        </div>
      ))}
    </>
  );
}

function Traffic({ name, traffic }: { readonly name: string; readonly traffic: PodTraffic }) {
  const points = traffic.points(name);
  const counters = traffic.counters(name);
  return (
    <>
      <h3>Traffic</h3>
      {traffic.problem === undefined ? (
        <p>
          Now: {trafficText(points.at(-1)?.rates)}
          {points.length === 0 && '. They are known after two readings, five seconds apart'}.
        </p>
      ) : (
        <p class="problem">Counters are unknown: {traffic.problem}</p>
      )}
      <TrafficCharts points={points} />
      {counters && (
        <details>
          <summary>All counters</summary>
          <CountersTable
            counters={counters}
            side="peer"
            caption="Counters of VPP; in and out are seen from the pod"
          />
        </details>
      )}
    </>
  );
}

interface ConnectivityProps {
  readonly name: string;
  readonly attachments: readonly PodAttachment[];
}

function Connectivity({ name, attachments }: ConnectivityProps) {
  const policies = attachments.at(-1)?.policies;
  return (
    <section>
      <h3>Policies</h3>
      {policies ? (
        <dl class="facts">
          <dt>To the pod (ingress)</dt>
          <dd>{deciding(policies.ingress)}</dd>
          <dt>From the pod (egress)</dt>
          <dd>{deciding(policies.egress)}</dd>
        </dl>
      ) : (
        <p class="quiet">The policies of the pod are not known.</p>
      )}
      <p>
        <a href={href('connectivity', { from: name })}>What may the pod reach?</a>
        <br />
        <a href={href('connectivity', { to: name })}>Who may reach the pod?</a>
      </p>
    </section>
  );
}

function deciding(policies: readonly string[]): string {
  return policies.length === 0
    ? 'no policy: everything is permitted'
    : `decided by ${policies.join(', ')}`;
}

interface ServicesProps {
  readonly services: readonly ServiceUse[];
  readonly total: number;
}

function Services({ services, total }: ServicesProps) {
  const shown = new Set(services.map(({ service }) => service)).size;
  if (services.length === 0)
    return (
      <section>
        <h3>Services</h3>
        <p>No service forwards connections to the pod.</p>
      </section>
    );
  return (
    <section>
      <h3>Services</h3>
      <table>
        <caption>
          Addresses of services that have the pod as a backend
          {total > shown && `; ${shown} of ${total} services shown`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Service</th>
            <th scope="col">Address</th>
            <th scope="col">Backend</th>
            <th scope="col">Use</th>
          </tr>
        </thead>
        <tbody>
          {services.slice(0, MAX_ROWS).map((one) => (
            <tr key={`${one.service} ${one.address} ${one.protocol} ${one.port} ${one.targetPort}`}>
              <th scope="row">{one.service}</th>
              <td>
                {hostAndPort(one.address, one.port)} {one.protocol}{' '}
                <span class="quiet">
                  {one.kind}
                  {one.portName !== '' && `, port ${one.portName}`}
                </span>
              </td>
              <td>{hostAndPort(one.podAddress, one.targetPort)}</td>
              <td>
                {one.whyNotUsed === null ? (
                  <>
                    <Badge tone="good">used</Badge>{' '}
                    {one.carriers.length > 0 && (
                      <span class="quiet">by {one.carriers.join(', ')}</span>
                    )}
                  </>
                ) : (
                  <>
                    <Badge tone="neutral">not used</Badge> {one.whyNotUsed}
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

function Values({ attachment: { valueStates } }: { readonly attachment: PodAttachment }) {
  if (valueStates.length === 0) return null;
  return (
    <section>
      <h3>Configuration</h3>
      <table>
        <caption>What is configured in VPP and Linux for the pod</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {faultsFirst(valueStates).map(({ key, state, error = '', details = [] }) => (
            <tr key={key}>
              <th scope="row">
                <a href={href('values', { key })}>
                  <code>{key}</code>
                </a>
              </th>
              <td>
                <ValueStateBadge state={state} />
              </td>
              <td>{error === '' ? details.join(', ') : error}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function faultsFirst(states: readonly ValueState[]): readonly ValueState[] {
  const isFault = ({ state }: ValueState) => Number(state !== 'CONFIGURED');
  return states.toSorted((a, b) => isFault(b) - isFault(a)).slice(0, MAX_ROWS);
}
