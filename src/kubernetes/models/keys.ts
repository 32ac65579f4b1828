/** Keys of reflected resources, without the reflector's prefix. Names contain no slash. */
import { type KeyTemplate, keyTemplate } from '#models/key-template.ts';

const SEGMENT = '[^/]+';

/** `k8s/<keyword>/<name>` */
export function clusterKey(keyword: string): KeyTemplate<`${string}{name}`> {
  return keyTemplate(`k8s/${keyword}/{name}`, { name: SEGMENT });
}

/** `k8s/<keyword>/<name>/namespace/<namespace>` */
export function namespacedKey(
  keyword: string,
): KeyTemplate<`${string}{name}/namespace/{namespace}`> {
  return keyTemplate(`k8s/${keyword}/{name}/namespace/{namespace}`, {
    name: SEGMENT,
    namespace: SEGMENT,
  });
}
