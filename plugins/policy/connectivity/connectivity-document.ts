/** Connectivity as JSON, in pieces: the main thread makes one piece after the other while they are sent. */
import { jsonPieces } from '#infra/http/streamed.ts';
import { formatAddress } from '../address-set.ts';
import type { ChangedConnection, Connection } from './connections.ts';
import { type Endpoints, isOutside } from './endpoints.ts';
import type { Explanation } from './explanation.ts';
import { portsText } from './ports-text.ts';

/** A list whose items are made when they are read, with undefined for work without a result; or an object. */
type Field = Iterable<object | string | undefined> | Readonly<Record<string, unknown>>;

export function* documentPieces(
  fields: Readonly<Record<string, Field>>,
): Generator<string, void, void> {
  let before = '{\n';
  for (const [name, items] of Object.entries(fields)) {
    yield `${before}  ${JSON.stringify(name)}: `;
    before = ',\n';
    if (!isIterable(items)) {
      yield* jsonPieces(items, '  ', ITEM_DEPTH);
      continue;
    }
    let opening = '[';
    for (const item of items) {
      if (item === undefined) yield '';
      else {
        yield `${opening}\n    `;
        yield* jsonPieces(item, '    ', ITEM_DEPTH);
        opening = ',';
      }
    }
    yield opening === '[' ? '[]' : '\n  ]';
  }
  yield '\n}\n';
}

function isIterable(field: Field): field is Iterable<object | string | undefined> {
  return Symbol.iterator in field;
}

/** So that the rules of an ACL are pieces of their own. */
const ITEM_DEPTH = 1;

/** Workloads, pods and ranges of addresses, once each; with an address of the range that no pod has. */
export function* endpointItems(endpoints: Endpoints): Generator<object, void, void> {
  const seen = new Set<string>();
  for (const endpoint of [...endpoints.sources, ...endpoints.destinations]) {
    if (seen.has(endpoint.name)) continue;
    seen.add(endpoint.name);
    yield isOutside(endpoint)
      ? { name: endpoint.name, address: formatAddress(endpoint.address) }
      : { name: endpoint.name, pods: endpoint.pods };
  }
}

export function* connectionItems(
  connections: Iterable<Connection | undefined>,
): Generator<object | undefined, void, void> {
  for (const one of connections)
    yield one && { from: one.from.name, to: one.to.name, ports: portsText(one.ports) };
}

export function* changeItems(
  changes: Iterable<ChangedConnection | undefined>,
): Generator<object | undefined, void, void> {
  for (const one of changes)
    yield one && {
      from: one.from.name,
      to: one.to.name,
      before: portsText(one.before),
      after: portsText(one.after),
    };
}

export function explanationDocument(explanation: Explanation): object {
  const { from, to, port, permitted, otherFamilies = null, egress, ingress } = explanation;
  return {
    from,
    to,
    port: port === undefined ? null : `${port.protocol}/${port.port}`,
    verdict: permitted.isEmpty ? 'denied' : 'permitted',
    ports: portsText(permitted),
    otherFamilies,
    egress: egress ? directionDocument(egress) : null,
    ingress: ingress ? directionDocument(ingress) : null,
  };
}

function directionDocument({ isolatedBy, permits }: NonNullable<Explanation['egress']>): object {
  return {
    isolatedBy,
    permits: permits.map(({ policy, rule, ports }) => ({ policy, rule, ports: portsText(ports) })),
  };
}
