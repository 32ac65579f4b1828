/** Namespaces of the suites that are of this tree: made empty, and removed with all that is in them. */
import { apply, kubectl } from './kubectl.ts';

const DELETE_LIMIT_S = 120;

export function createNamespace(name: string): void {
  deleteNamespace(name);
  apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
}

/** Returns when its pods have ended. */
export function deleteNamespace(name: string): void {
  kubectl('delete', 'namespace', name, '--ignore-not-found', `--timeout=${DELETE_LIMIT_S}s`);
}
