/** One service: its addresses, why backends are not used, and its values. */
import type { ServiceAddress, ServiceBackend, ServiceDocument } from '#documents/services.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { hostAndPort } from '../../components/host-and-port.ts';
import { Loading } from '../../components/loading.tsx';
import { href } from '../../location.ts';
import { addressText, kindText } from './address-text.ts';
import { carrierOf } from './carrier.ts';

/** @param name `namespace/name`; of the host ports of a pod `namespace/pod:name` */
export function OneService({ name }: { readonly name: string }) {
  const [namespace = '', service = ''] = name.split('/', 2);
  const path = `contiv/v1/services/${encodeURIComponent(namespace)}/${encodeURIComponent(service)}`;
  const loaded = useDocument<ServiceDocument>(path, { afterEvents: true, everyMs: 30_000 });
  const isGone = loaded.error?.status === 404;
  return (
    <>
      <p>
        <a href={href('services')}>All services</a>
      </p>
      <h2>{name}</h2>
      {isGone ? (
        <p class="problem" role="alert">
          The cluster has no service {name}.
        </p>
      ) : (
        <Loading of={loaded} what="the service">
          {(document) => <Found document={document} />}
        </Loading>
      )}
    </>
  );
}

function Found({ document }: { readonly document: ServiceDocument }) {
  const { whyNotRendered, renderer, problems, addresses, healthCheck, values } = document;
  return (
    <>
      <dl class="facts">
        <dt>State</dt>
        <dd>
          {whyNotRendered === undefined ? (
            <>
              <Badge tone={problems.length === 0 ? 'good' : 'waiting'}>served</Badge>{' '}
              {renderer !== null && `by ${renderer}`}
            </>
          ) : (
            <>
              <Badge tone="neutral">not served</Badge> {whyNotRendered}
            </>
          )}
        </dd>
        {problems.length > 0 && (
          <>
            <dt>Problems</dt>
            <dd>
              {problems.map((problem) => (
                <div key={problem}>{problem}</div>
              ))}
            </dd>
          </>
        )}
        {healthCheck !== null && (
          <>
            <dt>Health check of the load balancer</dt>
            <dd>
              port {healthCheck.port}, {healthCheck.localEndpoints} ready endpoints on this node
              {healthCheck.byKubeProxy && ', served by kube-proxy'}
              {healthCheck.error !== null && `: ${healthCheck.error}`}
            </dd>
          </>
        )}
      </dl>
      {addresses.map((address) => (
        <Address key={`${address.kind} ${addressText(address)}`} address={address} />
      ))}
      {values.length > 0 && (
        <section>
          <h3>Values</h3>
          <ul>
            {values.map(({ key, state, error, actual }) => (
              <li key={key}>
                {carrierOf(key)} <ValueStateBadge state={state} />{' '}
                <a href={href('values', { key })}>{key}</a>
                {error !== undefined && `: ${error}`}
                {state === 'CONFIGURED' && actual === null && ' – not found there'}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Address({ address }: { readonly address: ServiceAddress }) {
  const { kind, portName, whyNotRendered, policy, sourceRanges, backends } = address;
  const title = `${kindText(kind)} ${addressText(address)}`;
  return (
    <section>
      <h3>{title}</h3>
      <p>
        {portName !== '' && `Port ${portName}. `}
        {policy === 'Local' && 'Endpoints of this node only (Local). '}
        {sourceRanges !== undefined && `For clients in ${sourceRanges.join(', ')} only. `}
        {whyNotRendered !== undefined && (
          <span class="quiet">This node does not serve it: {whyNotRendered}</span>
        )}
      </p>
      {backends.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
        <section class="scroll" tabIndex={0} aria-label={`Backends of ${title}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">Backend</th>
                <th scope="col">Pod</th>
                <th scope="col">Node</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {backends.map((backend) => (
                <Backend key={hostAndPort(backend.address, backend.port)} backend={backend} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

function Backend({ backend }: { readonly backend: ServiceBackend }) {
  const { address, port, nodeName, pod, isLocal, state, whyNotUsed } = backend;
  return (
    <tr>
      <th scope="row">{hostAndPort(address, port)}</th>
      <td>
        {pod === '' ? (
          <span class="quiet">no pod</span>
        ) : isLocal ? (
          <a href={href('pods', { pod })}>{pod}</a>
        ) : (
          pod
        )}
      </td>
      <td>{nodeName === '' ? <span class="quiet">unknown</span> : nodeName}</td>
      <td>
        <Badge tone={whyNotUsed === undefined ? 'good' : 'neutral'}>
          {whyNotUsed === undefined ? 'used' : 'not used'}
        </Badge>{' '}
        {whyNotUsed ?? (state === 'ready' ? '' : state)}
      </td>
    </tr>
  );
}
