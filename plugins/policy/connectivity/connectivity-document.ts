/** Connectivity as JSON, in pieces: the main thread makes one piece after the other while they are sent. */
import type {
  Connection,
  ConnectionChange,
  Direction,
  Endpoint,
  PairDocument,
} from '#documents/connectivity.ts';
import { jsonPieces } from '#infra/http/streamed.ts';
import { formatAddress } from '../address-set.ts';
import type { PolicyDirection } from '../pod-policy.ts';
import { changeReasons } from './change-reasons.ts';
import type { ChangedConnection, Connection as PermittedConnection } from './connections.ts';
import { type Endpoints, isOutside } from './endpoints.ts';
import type { Explanation } from './explanation.ts';
import { portsText } from './ports-text.ts';
import { ruleDocument } from './rule-document.ts';

/** A list whose items are made when they are read, with undefined for work without a result; or an object. */
type Field<T> = T extends readonly (infer Item)[] ? Iterable<Item | undefined> : T;

export function* documentPieces<D extends object>(
  fields: {
    readonly [Name in keyof D]: Field<D[Name]>;
  },
): Generator<string, void, void> {
  let before = '{\n';
  for (const [name, items] of Object.entries(fields) as [string, object][]) {
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

function isIterable(field: object): field is Iterable<object | string | undefined> {
  return Symbol.iterator in field;
}

/** So that the rules of an ACL are pieces of their own. */
const ITEM_DEPTH = 1;

/** Workloads, pods and ranges of addresses, once each; with an address of the range that no pod has. */
export function* endpointItems(endpoints: Endpoints): Generator<Endpoint, void, void> {
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
  connections: Iterable<PermittedConnection | undefined>,
): Generator<Connection | undefined, void, void> {
  for (const one of connections)
    yield one && { from: one.from.name, to: one.to.name, ports: portsText(one.ports) };
}

export function* changeItems(
  changes: Iterable<ChangedConnection | undefined>,
): Generator<ConnectionChange | undefined, void, void> {
  for (const one of changes)
    yield one && {
      from: one.from.name,
      to: one.to.name,
      before: portsText(one.before),
      after: portsText(one.after),
      reasons: changeReasons(one),
    };
}

export function explanationDocument(explanation: Explanation): PairDocument {
  const { from, to, port, permitted, otherFamilies = null, egress, ingress } = explanation;
  return {
    from,
    to,
    port: port === undefined ? null : `${port.protocol}/${port.port}`,
    verdict: permitted.isEmpty ? 'denied' : 'permitted',
    ports: portsText(permitted),
    otherFamilies,
    egress: egress ? directionDocument(egress, 'egress') : null,
    ingress: ingress ? directionDocument(ingress, 'ingress') : null,
  };
}

function directionDocument(
  { policies, rules, undecided }: NonNullable<Explanation['egress']>,
  direction: PolicyDirection,
): Direction {
  return {
    policies,
    rules: rules.map(({ rule, ports }) => ({
      ...ruleDocument(rule, direction),
      ports: portsText(ports),
    })),
    undecided: portsText(undecided),
  };
}
