/**
 * Source NAT of IPv6 by the plugin cnat, from VPP 26.06 on: a policy of table 0, which gives the address and finds free ports, and a
 * node of VPP where packets enter by an interface. VPP looks for the session of a reply where a translation has put cnat before the
 * address: that translation is a value of its own.
 */
import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { type CnatSourceNat, cnatSourceNatModel } from '#models/vpp/cnat-source-nat.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';
import { readSourceNat, setPolicy, setTranslating, translates } from './source-nat-policy.ts';

/** The only table in which cnat finds replies. Its index in VPP is its number. */
const TABLE = 0;

export function cnatSourceNatDescriptor({
  client,
  log,
  sessionCounters,
}: VppDescriptorOptions): KvDescriptor<CnatSourceNat, undefined> {
  const indexOf = (value: CnatSourceNat, ctx: OperationContext): number =>
    ctx.metadata<VppInterfaceMetadata>(vppInterfaceKey.build({ name: value.interface })).swIfIndex;

  return defineDescriptor('vpp-cnat-source-nat', cnatSourceNatModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, { interface: name, address }) {
      checkField(key, name !== '', 'interface', 'missing');
      checkField(key, address.includes(':'), 'address', 'must be an IPv6 address');
    },
    dependencies: (_key, { interface: name }) => [
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ],
    // the policy first and last: where it is missing, no interface translates
    async create(_key, value, ctx) {
      const index = indexOf(value, ctx);
      await sessionCounters.add();
      return allOrNothing(log, async (undo) => {
        await setPolicy(client, TABLE, value.address);
        undo.add(() => setPolicy(client, TABLE, undefined));
        if (!(await translates(client, index))) await setTranslating(client, index, true);
        return undefined;
      });
    },
    // connections that exist keep the address before, to which replies come as long as VPP has it
    async update(_key, _before, after) {
      await setPolicy(client, TABLE, after.address);
      return undefined;
    },
    needsRecreate: (_key, before, after) => before.interface !== after.interface,
    async delete(_key, value, _metadata, ctx) {
      if (value.interface !== '')
        await ignoreNotFound(setTranslating(client, indexOf(value, ctx), false));
      await setPolicy(client, TABLE, undefined);
    },

    async retrieve(_correlate, ctx) {
      const found = await readSourceNat(client, interfaceNames(ctx));
      if (found === undefined) return [];
      const value = cnatSourceNatModel.canonical(found);
      return [{ key: cnatSourceNatModel.key(value), value, origin: 'from-NB' as const }];
    },
  });
}
