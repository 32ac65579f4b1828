import type { ApiClient } from './api-client.ts';

const SILENCE_MS = 30_000;

/**
 * Replaces fields of the status of an object.
 * @param path of the object
 * @throws CodedError
 */
export async function patchStatus(
  client: ApiClient,
  path: string,
  status: object,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({ status });
  const request = { method: 'PATCH', path: `${path}/status`, query: {}, body } as const;
  const limits = { silenceMs: SILENCE_MS, signal };
  // The answer is the whole object; only its arrival counts.
  for await (const _ of client.read(request, limits));
}
