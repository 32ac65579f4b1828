/**
 * Requests to the agent that serves the page. Paths are relative to that of the page, because a proxy may put a path
 * before it. Documents of another node are asked of this agent, too, which asks that node.
 */
import { otherNode } from '../location.ts';

/** A request without the document: the error that the agent reports, or that it does not answer. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** 0: there was no reply. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Longer than the agent takes for its largest documents, with others waiting before them. */
const LIMIT_MS = 15_000;

/** The node of a document: the one that is shown, or the one that serves the page. */
export type Source = 'shown' | 'serving';

/** @param path of a REST document without a slash before it: `scheduler/values?limit=10` */
export function documentAddress(path: string, source: Source = 'shown'): string {
  if (otherNode === undefined || source === 'serving') return `../${path}`;
  return `../contiv/v1/cluster/document?${new URLSearchParams({ node: otherNode, path })}`;
}

/** The events of the node that is shown. @param query arguments */
export function eventsAddress(query: string): string {
  if (otherNode === undefined) return `../controller/events?${query}`;
  return `../contiv/v1/cluster/events?node=${encodeURIComponent(otherNode)}&${query}`;
}

/**
 * @param path of a REST document without a slash before it: `scheduler/values?limit=10`
 * @throws RequestError
 */
export function getDocument<T>(path: string, source: Source, signal?: AbortSignal): Promise<T> {
  const address = documentAddress(path, source);
  return requestDocument(path, address, { headers: { Accept: 'application/json' } }, signal);
}

/**
 * Of the node that serves the page, for the routes that compute something from what they are sent; they change nothing.
 * @throws RequestError
 */
export function postDocument<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify(body) };
  return requestDocument(path, `../${path}`, options, signal);
}

async function requestDocument<T>(
  path: string,
  address: string,
  options: RequestInit,
  signal: AbortSignal | undefined,
): Promise<T> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const either = signal ? AbortSignal.any([signal, limit]) : limit;
  let response: Response;
  let text: string;
  try {
    response = await fetch(address, { ...options, signal: either, cache: 'no-store' });
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new RequestError(
      limit.aborted
        ? `The agent has not answered within ${LIMIT_MS / 1_000} s.`
        : 'The agent does not answer.',
      0,
    );
  }
  // The probes answer 500 with a document when a component is in error.
  if (response.ok || (isProbe(path) && response.status === 500)) return parsed(text) as T;
  throw new RequestError(errorOf(text) || `status ${response.status}`, response.status);
}

function isProbe(path: string): boolean {
  return path === 'readiness' || path === 'liveness';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns the error in the text of a reply; empty: it has none */
export function errorOf(text: string): string {
  const document = parsed(text);
  if (typeof document !== 'object' || document === null || !('Error' in document)) return '';
  return String(document.Error);
}
