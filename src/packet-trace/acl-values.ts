/** The ACLs of a node from configured values. */
import { type Acl as AclValue, aclModel } from '#models/vpp/acl.ts';
import type { AclBinding, AclConfig } from './acl-config.ts';
import { valuesOf } from './values.ts';

/** @returns undefined if no interface has an ACL */
export function aclsOfValues(all: ReadonlyMap<string, unknown>): AclConfig | undefined {
  const values = valuesOf<AclValue>(aclModel, all);
  // the descriptor binds the ACLs of an interface in the order of their names
  const sorted = [...values.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const bindings = new Map<string, { input: string[]; output: string[] }>();
  const bind = (side: 'input' | 'output', acl: string, names: readonly string[] = []): void => {
    for (const name of names) {
      const bound = bindings.get(name) ?? { input: [], output: [] };
      bindings.set(name, bound);
      bound[side].push(acl);
    }
  };
  for (const { name, interfaces } of sorted) {
    bind('input', name, interfaces?.ingress);
    bind('output', name, interfaces?.egress);
  }
  if (bindings.size === 0) return undefined;
  return {
    acls: [...values].map(([key, { name, rules }]) => ({ key, name, rules })),
    bindings: [...bindings].map(([name, bound]): AclBinding => ({ interface: name, ...bound })),
  };
}
