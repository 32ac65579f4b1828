import { Slices } from '#infra/clock/slices.ts';
import { defineDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type {
  KeyedValue,
  KvDescriptor,
  RetrieveContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import { type Acl, aclKey, aclModel } from '#models/vpp/acl.ts';
import { aclBindingKey } from '#models/vpp/derived.ts';
import type { AclDetails, AclRule as VppRule } from '../../binapi/messages.gen.ts';
import { VppRefusedError } from '../../binapi/retval-error.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import { type ManagedNames, managedNames, type NamedKey } from '../managed-keys.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { tagOf } from '../tags.ts';
import { type AclBindings, type Direction, readLists } from './bindings.ts';
import { fromRule, sameRule, toRule } from './rule.ts';
import { SHELL_TAG, validateAcl } from './validate-acl.ts';

export interface AclMetadata {
  readonly aclIndex: number;
}

const namedKey: NamedKey = {
  build: (name) => aclKey.build({ name }),
  parse: (key) => aclKey.parse(key)?.name,
};

const inUse: readonly number[] = [-142, -143, -149];

/**
 * Access lists. Managed ones have their name as tag, which the create message sets. Rules are replaced in
 * place by one message, so that traffic never passes a partial list.
 */
export function aclDescriptor({
  client,
  clock,
  managedKeys,
  aclBindings: bindings,
}: VppDescriptorOptions): KvDescriptor<Acl, AclMetadata> {
  const addOrReplace = async (value: Acl, acl_index: number): Promise<AclMetadata> => {
    const reply = await client.request('acl_add_replace', {
      acl_index,
      tag: tagOf(value.name),
      r: value.rules.map(toRule),
    });
    return { aclIndex: reply.acl_index };
  };
  return defineDescriptor('vpp-acl', aclModel, {
    retrieveDependencies: ['vpp-interface'],
    validate: validateAcl,
    equivalent: (_key, a, b) => sameRules(a.rules.map(toRule), b.rules.map(toRule)),
    derived: (_key, { name, interfaces }) =>
      (['ingress', 'egress'] as const).flatMap((direction) =>
        (interfaces?.[direction] ?? []).map((iface) => ({
          key: aclBindingKey.build({ acl: name, direction, iface }),
          value: emptyValue,
        })),
      ),
    async create(_key, value) {
      const index = addOrReplace(value, NONE).then(({ aclIndex }) => aclIndex);
      bindings.create(value, index);
      return { aclIndex: await index };
    },
    update(_key, _before, after, { aclIndex }) {
      bindings.update(after, aclIndex);
      return addOrReplace(after, aclIndex);
    },
    async delete(_key, { name }, { aclIndex: acl_index }) {
      // at first: an interface that is created meanwhile must not get it
      bindings.remove(acl_index, name);
      try {
        await ignoreNotFound(client.request('acl_del', { acl_index }));
      } catch (thrown) {
        if (!(thrown instanceof VppRefusedError) || !inUse.includes(thrown.retval)) throw thrown;
        // another program has bound it
        await bindings.release(acl_index);
        await ignoreNotFound(client.request('acl_del', { acl_index }));
      }
    },
    retrieve: (correlate, ctx) =>
      retrieve({ client, clock, managedKeys }, bindings, correlate, ctx),
  });
}

async function retrieve(
  { client, clock, managedKeys }: Pick<VppDescriptorOptions, 'client' | 'clock' | 'managedKeys'>,
  bindings: AclBindings,
  correlate: readonly KeyedValue<Acl>[],
  ctx: RetrieveContext,
): Promise<readonly RetrievedValue<Acl, AclMetadata>[]> {
  if (!client.has('acl_dump')) return [];
  const slices = new Slices(clock);
  const [acls, lists] = await Promise.all([
    client.dump('acl_dump', { acl_index: NONE }),
    readLists(client, undefined),
  ]);
  const desired = new Map(correlate.map(({ value }) => [value.name, value]));
  const named = nameAll(acls, managedNames(managedKeys, namedKey, new Set(desired.keys())));
  bindings.replaceAll(new Map([...named].map(([index, { name }]) => [index, name])), desired);

  const bound = new Map<number, Record<Direction, string[]>>();
  const interfaces = interfaceNames(ctx);
  for (const [swIfIndex, found] of lists) {
    const iface = interfaces.get(swIfIndex);
    if (iface === undefined) continue;
    for (const direction of ['ingress', 'egress'] as const) {
      for (const acl of found[direction]) {
        // out of order: not reported, so that it is bound again, which sorts the list
        if (bindings.isOutOfOrder(found[direction], acl)) continue;
        const known = bound.get(acl) ?? { ingress: [], egress: [] };
        known[direction].push(iface);
        bound.set(acl, known);
      }
    }
  }

  const values: RetrievedValue<Acl, AclMetadata>[] = [];
  for (const [aclIndex, { name, details }] of named) {
    if (slices.due()) await slices.turn();
    const key = aclKey.build({ name });
    if (ctx.only?.has(key) === false) continue;
    const known = desired.get(name);
    const hasRules = known !== undefined && sameRules(known.rules.map(toRule), details.r);
    const on = bound.get(aclIndex) ?? { ingress: [], egress: [] };
    const isSame =
      hasRules &&
      (['ingress', 'egress'] as const).every((direction) =>
        sameNames(known.interfaces?.[direction] ?? [], on[direction]),
      );
    const rules = hasRules ? known.rules : details.r.map(fromRule);
    const value = isSame ? known : aclModel.canonical({ name, rules, interfaces: on });
    values.push({ key, value, metadata: { aclIndex }, origin: 'from-NB' });
  }
  return values;
}

interface Named {
  readonly name: string;
  readonly details: AclDetails;
}

/** Managed ACLs by index. An ACL with the tag of another gets a name that is never desired. */
function nameAll(acls: readonly AclDetails[], managed: ManagedNames): ReadonlyMap<number, Named> {
  const named = new Map<number, Named>();
  const taken = new Set<string>();
  for (const details of acls) {
    const { acl_index, tag } = details;
    const first = managed.ofTag(tag);
    if (first === undefined || tag === SHELL_TAG) continue;
    const name = taken.has(first) ? `${first} (another, index ${acl_index})` : first;
    taken.add(name);
    named.set(acl_index, { name, details });
  }
  return named;
}

function sameRules(a: readonly VppRule[], b: readonly VppRule[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((rule, position) => sameRule(rule, b[position] as VppRule));
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  const names = new Set(a);
  return b.every((name) => names.has(name));
}
