/** Documents of other nodes that this agent asks for its clients: those that the page shows, and no other. */
import { BadRequestError } from '#infra/http/route.ts';

/** As the routes declare them. All are GET and change nothing. */
const relayed: readonly string[] = [
  'readiness',
  'contiv/v1/flows',
  'contiv/v1/flows/workloads',
  'contiv/v1/interfaces',
  'contiv/v1/ipam',
  'contiv/v1/ipam/allocations',
  'contiv/v1/nodes',
  'contiv/v1/pods',
  'contiv/v1/pods/:namespace/:name',
  'contiv/v1/policy/connectivity',
  'contiv/v1/policy/enforcement',
  'contiv/v1/policy/pods',
  'contiv/v1/policy/pods/:namespace/:name',
  'contiv/v1/search',
  'contiv/v1/services',
  'contiv/v1/services/:namespace/:name',
  'contiv/v1/status',
  'controller/event-history',
  'scheduler/dump',
  'scheduler/key-timeline',
  'scheduler/transaction',
  'scheduler/transactions',
  'scheduler/value',
  'scheduler/values',
  'trace/pair',
];

const patterns = relayed.map((path) => path.split('/'));

/**
 * @param path of a document with its arguments, without a slash before it
 * @throws BadRequestError unless it is one of the list
 */
export function checkRelayed(path: string): void {
  const [document = '', ...search] = path.split('?');
  const segments = document.split('/');
  const isListed = patterns.some(
    (pattern) =>
      pattern.length === segments.length &&
      pattern.every((name, at) =>
        name.startsWith(':') ? isName(segments[at]!) : name === segments[at],
      ),
  );
  // characters of a URL alone: the path is part of a request
  if (isListed && search.length < 2 && /^[!$&-;=?-Z_a-z~%]*$/.test(search[0] ?? '')) return;
  throw new BadRequestError(
    `argument path="${path}" is not a document that other nodes are asked for: ${relayed.join(', ')}`,
  );
}

/** Of an object of Kubernetes: no dots alone, which stand for other folders. */
function isName(segment: string): boolean {
  return /^[A-Za-z0-9%._:-]+$/.test(segment) && !/^(\.|%2e)+$/i.test(segment);
}
