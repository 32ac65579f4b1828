/** The services of the cluster as this node carries them, or one of them: `#/services`, `#/services?service=namespace/name`. */
import type { ServiceSummary } from '#documents/services.ts';
import { documentAddress } from '../../agent/request.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { useSearch } from '../../agent/use-search.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { changeQuery, href, place } from '../../location.ts';
import { addressText, kindText } from './address-text.ts';
import { OneService } from './one-service.tsx';
import { hasProblem, matchesSearch, worstState } from './service-state.ts';

/** More make the page slow; a search finds the others. */
const MAX_ROWS = 200;

export function Services() {
  const name = place.value.query.get('service') ?? '';
  return name === '' ? <List /> : <OneService key={name} name={name} />;
}

function List() {
  const { text, settled, change } = useSearch('search');
  const show = place.value.query.get('show') ?? '';
  const list = useKeptDocument(
    useDocument<readonly ServiceSummary[]>('contiv/v1/services', {
      afterEvents: true,
      everyMs: 30_000,
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
            placeholder="name, address, port, backend"
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        </label>
        <label>
          Show
          <select
            value={show}
            onChange={({ currentTarget }) => changeQuery({ show: currentTarget.value })}
          >
            <option value="">all services</option>
            <option value="problems">services with problems</option>
          </select>
        </label>
      </div>
      <Loading of={list} what="services">
        {(all) => {
          const found = all.filter(
            (service) =>
              matchesSearch(service, settled) && (show !== 'problems' || hasProblem(service)),
          );
          const shown = found.slice(0, MAX_ROWS);
          return (
            <>
              <p role="status">
                {all.length === 0
                  ? 'The cluster has no service with an address.'
                  : `${shown.length.toLocaleString('en-US')} of ${all.length.toLocaleString('en-US')} services shown`}
                {found.length > shown.length && '. Search for others.'}
              </p>
              {shown.length > 0 && <Table services={shown} />}
            </>
          );
        }}
      </Loading>
    </>
  );
}

function Table({ services }: { readonly services: readonly ServiceSummary[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of services">
      <table class="services">
        <caption>
          Services of the cluster, and host ports of pods, as this node carries them.{' '}
          <a href={documentAddress('contiv/v1/services')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Service</th>
            <th scope="col">Addresses</th>
            <th scope="col" class="number">
              Backends
            </th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {services.map((service) => (
            <Row key={service.name} service={service} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ service }: { readonly service: ServiceSummary }) {
  const { name, addresses } = service;
  const backends = new Set(addresses.flatMap((address) => address.backends));
  return (
    <tr>
      <th scope="row">
        <a href={href('services', { service: name })}>{name}</a>
      </th>
      <td>
        <ul class="addresses">
          {addresses.map((address) => (
            <li key={`${address.kind} ${addressText(address)}`}>
              <span class="quiet">{kindText(address.kind)}</span> {addressText(address)}
              {address.whyNotRendered !== undefined && (
                <div class="quiet">Not served: {address.whyNotRendered}</div>
              )}
            </li>
          ))}
        </ul>
      </td>
      <td class="number">{backends.size.toLocaleString('en-US')}</td>
      <td>
        <ServiceState service={service} />
      </td>
    </tr>
  );
}

function ServiceState({ service }: { readonly service: ServiceSummary }) {
  const { whyNotRendered, problems, values } = service;
  const state = worstState(values);
  return (
    <>
      {whyNotRendered === undefined ? (
        state !== undefined && <ValueStateBadge state={state} />
      ) : (
        <Badge tone="neutral">not served</Badge>
      )}
      {whyNotRendered !== undefined && <div class="quiet">{whyNotRendered}</div>}
      {problems.map((problem) => (
        <div key={problem} class="fault">
          {problem}
        </div>
      ))}
    </>
  );
}
