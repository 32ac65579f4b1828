/** A plan: connections and services that change, notes, and the operations with their values. */

import { useSignal } from '@preact/signals';
import type {
  AddressCarrier,
  ClusterPlan,
  ConnectionChange,
  ServedAddress,
  ServiceChange,
  ValueOperation,
} from '#documents/connectivity.ts';
import { Badge } from '../../components/badge.tsx';
import { hostAndPort } from '../../components/host-and-port.ts';
import { href } from '../../location.ts';
import { NONE, portsInWords } from '../connectivity/port-list.ts';
import { lineDiff } from './line-diff.ts';

/** More are not readable; the heading has the number of all. */
const MAX_ROWS = 200;

export function PlanResult({ plan }: { readonly plan: ClusterPlan }) {
  const { problems, operations, services, changes } = plan;
  const lost = changes.filter(({ after }) => after === NONE).length;
  return (
    <>
      <p role="status" class="plan-summary">
        <strong>
          {changes.length} {changes.length === 1 ? 'connection changes' : 'connections change'}
          {lost > 0 && `, ${lost} of them ${lost === 1 ? 'is' : 'are'} lost`}; {services.length}{' '}
          {services.length === 1 ? 'service changes' : 'services change'}; {operations.length}{' '}
          {operations.length === 1 ? 'operation' : 'operations'} on this node.
        </strong>{' '}
        Nothing was applied.
      </p>
      {problems.length > 0 && (
        <section>
          <h2>Notes</h2>
          <ul>
            {problems.slice(0, MAX_ROWS).map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <More all={problems.length} />
        </section>
      )}
      {changes.length > 0 && <Connections changes={changes} />}
      {services.length > 0 && <Services services={services} />}
      {operations.length > 0 && <Operations operations={operations} />}
    </>
  );
}

function More({ all }: { readonly all: number }) {
  return all > MAX_ROWS ? (
    <p class="quiet">
      {MAX_ROWS} of {all} shown.
    </p>
  ) : null;
}

function Connections({ changes }: { readonly changes: readonly ConnectionChange[] }) {
  return (
    <section>
      <h2>Connections</h2>
      <table>
        <caption>Pairs whose permitted ports change</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
            <th scope="col">Change</th>
            <th scope="col">Rules</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, MAX_ROWS).map(({ from, to, before, after, reasons = [] }) => (
            <tr key={`${from} ${to}`}>
              <td>{from}</td>
              <td>{to}</td>
              <td>{portsInWords(before)}</td>
              <td>{portsInWords(after)}</td>
              <td>
                {after === NONE ? (
                  <Badge tone="bad">lost</Badge>
                ) : before === NONE ? (
                  <Badge tone="good">new</Badge>
                ) : (
                  <Badge tone="waiting">other ports</Badge>
                )}
              </td>
              <td>{reasons.join('; ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <More all={changes.length} />
    </section>
  );
}

function Services({ services }: { readonly services: readonly ServiceChange[] }) {
  return (
    <section>
      <h2>Services</h2>
      <table>
        <caption>
          Addresses on this node, with their backends and what forwards to these: NAT44 of VPP, or
          the kernel at sockets
        </caption>
        <thead>
          <tr>
            <th scope="col">Service</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {services.slice(0, MAX_ROWS).map(({ service, before, after }) => (
            <tr key={service}>
              <th scope="row">{service}</th>
              <td>
                <Addresses of={before} />
              </td>
              <td>
                <Addresses of={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <More all={services.length} />
    </section>
  );
}

/** A service may have 254 of them at each address. */
const MAX_BACKENDS = 10;

function Addresses({ of }: { readonly of: readonly ServedAddress[] | null }) {
  if (of === null) return <>not served</>;
  return (
    <ul class="addresses">
      {of.map(({ kind, address, port, protocol, backends, sourceRanges, carriers }) => (
        <li key={`${address} ${protocol} ${port}`}>
          {hostAndPort(address, port)} {protocol} <span class="quiet">{kind}</span>
          {sourceRanges && ` for ${sourceRanges.join(', ') || 'no client'}`}
          {carrierLines(carriers, backends).map(({ list, names }) => (
            <div key={list}>
              → {list} <span class="quiet">{names}</span>
            </div>
          ))}
        </li>
      ))}
    </ul>
  );
}

interface CarrierLine {
  readonly list: string;
  readonly names: string;
}

/** One line for carriers with the same backends. */
function carrierLines(
  carriers: readonly AddressCarrier[],
  backends: readonly string[],
): CarrierLine[] {
  if (carriers.length === 0) return [{ list: backendList(backends), names: '' }];
  const ways = Map.groupBy(carriers, (one) => backendList(one.backends ?? backends));
  return [...ways].map(([list, of]) => ({
    list,
    names: `by ${of.map(({ carrier }) => carrier).join(', ')}`,
  }));
}

function backendList(backends: readonly string[]): string {
  if (backends.length === 0) return 'no backend';
  const more = backends.length - MAX_BACKENDS;
  const shown = backends.slice(0, MAX_BACKENDS).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

const operationTones = { create: 'good', update: 'waiting', delete: 'bad' } as const;

function Operations({ operations }: { readonly operations: readonly ValueOperation[] }) {
  return (
    <section>
      <h2>Operations on this node</h2>
      {operations.slice(0, MAX_ROWS).map((one) => (
        <Operation key={one.key} of={one} />
      ))}
      <More all={operations.length} />
    </section>
  );
}

/** Its difference is computed when it is opened. */
function Operation({ of }: { readonly of: ValueOperation }) {
  const isOpen = useSignal(false);
  const { operation, key, before, after } = of;
  return (
    <details
      class="operation"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <Badge tone={operationTones[operation]}>{operation}</Badge> <code>{key}</code>
      </summary>
      {operation !== 'create' && <a href={href('values', { key })}>The value as it is</a>}
      {isOpen.value && <Difference before={before} after={after} />}
    </details>
  );
}

function Difference({ before, after }: Pick<ValueOperation, 'before' | 'after'>) {
  const { lines, omitted } = lineDiff(before, after);
  return (
    <>
      <pre class="diff">
        {lines.map(({ sign, text }, at) => (
          <span
            key={at}
            class={sign === '+' ? 'added-line' : sign === '-' ? 'removed-line' : undefined}
          >
            {`${sign} ${text}\n`}
          </span>
        ))}
      </pre>
      {omitted > 0 && <p class="quiet">{omitted} more lines.</p>}
    </>
  );
}
