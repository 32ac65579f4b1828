import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';

/**
 * The same descriptor, but what it is asked in the middle of a transaction never throws: names of
 * values, fields of metadata, whether an error is worth a repetition, whether a key meets a
 * dependency. Of each of them the first mistake is logged; the transaction goes on without it.
 */
export function safeDescriptor(descriptor: AnyDescriptor, log: Logger): AnyDescriptor {
  const { name, label, metadataFields, isRetriable, dependencies } = descriptor;
  const told = new Set<string>();
  const tell = (what: string, thrown: unknown): void => {
    if (told.has(what)) return;
    told.add(what);
    log.error({ descriptor: name, what, error: errorText(thrown) }, 'Descriptor is broken');
  };
  const guard = <A, R>(what: string, ask: (about: A) => R, otherwise: (about: A) => R) => {
    return (about: A): R => {
      try {
        return ask(about);
      } catch (thrown) {
        tell(what, thrown);
        return otherwise(about);
      }
    };
  };
  const guardAccepts = (dependency: Dependency): Dependency => {
    const { anyOf } = dependency;
    if (!anyOf?.accepts) return dependency;
    const accepts = guard('accepts', anyOf.accepts, () => false);
    return { ...dependency, anyOf: { ...anyOf, accepts } };
  };
  return {
    ...descriptor,
    ...(label && { label: guard('label', label, (key) => key) }),
    ...(metadataFields && { metadataFields: guard('metadataFields', metadataFields, () => ({})) }),
    ...(isRetriable && { isRetriable: guard('isRetriable', isRetriable, () => true) }),
    ...(dependencies && {
      dependencies: (key, value) => {
        const all = dependencies(key, value);
        return all.some(({ anyOf }) => anyOf?.accepts) ? all.map(guardAccepts) : all;
      },
    }),
  };
}
