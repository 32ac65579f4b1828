/** Objects of Kubernetes in a text of YAML or JSON, with one document or several. */

/** The text cannot be planned; the message says where and why. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

export const plannedKinds: readonly string[] = [
  'NetworkPolicy',
  'Namespace',
  'Pod',
  'Service',
  'Endpoints',
  'EndpointSlice',
];

/** The agent accepts bodies up to 1 MiB; the request has some bytes besides the objects. */
export const MAX_BYTES = 1_000_000;

type Fields = Readonly<Record<string, unknown>>;

/** @throws ManifestError */
export async function manifestObjects(text: string): Promise<readonly Fields[]> {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_BYTES)
    throw new ManifestError(
      `The text has ${(bytes / 1_000_000).toFixed(1)} MB; the agent accepts up to 1 MB.`,
    );
  // Only this view needs it.
  const { parseAllDocuments } = await import('yaml');
  const objects = parseAllDocuments(text).flatMap((document, at) => {
    const [problem] = document.errors[0]?.message.split(/:?\n/) ?? [];
    if (problem !== undefined) throw new ManifestError(`Document ${at + 1}: ${problem}`);
    return itemsOf(readDocument(document, at), at);
  });
  if (objects.length === 0) throw new ManifestError('There is no object in the text.');
  const other = objects.find(({ kind }) => !plannedKinds.includes(String(kind)));
  if (other)
    throw new ManifestError(
      `${typeof other['kind'] === 'string' ? other['kind'] : 'An object without kind'} cannot be planned. The kinds are ${plannedKinds.join(', ')}.`,
    );
  return objects;
}

function readDocument(
  document: { toJS(options: { maxAliasCount: number }): unknown },
  at: number,
): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ManifestError(`Document ${at + 1}: ${reason}`);
  }
}

/** A list is replaced by its items; empty documents are left out. */
function itemsOf(value: unknown, at: number): Fields[] {
  if (value === null || value === undefined) return [];
  if (!isObject(value)) throw new ManifestError(`Document ${at + 1} is no object.`);
  const { kind, items } = value;
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [value];
  return items
    .filter(isObject)
    .map((item) => (kind === 'List' ? item : { kind: kind.slice(0, -'List'.length), ...item }));
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
