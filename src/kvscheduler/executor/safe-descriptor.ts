import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';

/**
 * Wraps those functions of a descriptor that must not throw in the middle of a transaction: `label`,
 * `metadataFields`, `isRetriable` and `accepts`. The first error of each is logged; the transaction
 * continues with a default.
 */
export function safeDescriptor(descriptor: AnyDescriptor, log: Logger): AnyDescriptor {
  const { name, label, metadataFields, isRetriable, dependencies } = descriptor;
  const logged = new Set<string>();
  const report = (method: string, thrown: unknown): void => {
    if (logged.has(method)) return;
    logged.add(method);
    log.error(
      { descriptor: name, what: method, error: errorText(thrown) },
      'descriptor function threw',
    );
  };
  const guard = <A, R>(method: string, call: (argument: A) => R, fallback: (argument: A) => R) => {
    return (argument: A): R => {
      try {
        return call(argument);
      } catch (thrown) {
        report(method, thrown);
        return fallback(argument);
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
