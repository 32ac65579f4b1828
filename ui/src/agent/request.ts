/** Requests to the agent. Paths are relative to that of the page, because a proxy may put a path before it. */

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

/**
 * @param path of a REST document without a slash before it: `scheduler/values?limit=10`
 * @throws RequestError
 */
export function getDocument<T>(path: string, signal?: AbortSignal): Promise<T> {
  return requestDocument(path, { headers: { Accept: 'application/json' } }, signal);
}

/**
 * For the routes that compute something from what they are sent; they change nothing.
 * @throws RequestError
 */
export function postDocument<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
  return requestDocument(path, { method: 'POST', headers, body: JSON.stringify(body) }, signal);
}

async function requestDocument<T>(
  path: string,
  options: RequestInit,
  signal: AbortSignal | undefined,
): Promise<T> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const either = signal ? AbortSignal.any([signal, limit]) : limit;
  let response: Response;
  let text: string;
  try {
    response = await fetch(`../${path}`, { ...options, signal: either, cache: 'no-store' });
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
