import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { type StnRule, stnRuleKey, stnRuleModel } from '#models/vpp/stn-rule.ts';
import type { VppInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import { fromAddress, toAddress } from '../../binapi/addresses.ts';
import { ignoreNotFound } from '../ignored-retvals.ts';
import { interfaceNames } from '../names-by-index.ts';
import type { VppDescriptorOptions } from '../options.ts';

/**
 * Packets to an address of the host, with which VPP shares its NIC, are sent to an interface. VPP has one
 * rule per address and deletes it by the address alone; a rule outlives its interface.
 */
export function stnRuleDescriptor({
  client,
}: VppDescriptorOptions): KvDescriptor<StnRule, undefined> {
  const set = (rule: StnRule, is_add: boolean, ctx: OperationContext): Promise<unknown> => {
    const key = vppInterfaceKey.build({ name: rule.interface });
    return client.request('stn_add_del_rule', {
      ip_address: toAddress(rule.ip_address),
      // VPP crashes if the interface does not exist
      sw_if_index: ctx.metadata<VppInterfaceMetadata>(key).swIfIndex,
      is_add,
    });
  };
  return defineDescriptor('vpp-stn-rules', stnRuleModel, {
    retrieveDependencies: ['vpp-interface'],
    validate(key, rule) {
      checkField(key, rule.ip_address !== '', 'ip_address', 'missing');
      checkField(key, rule.interface !== '', 'interface', 'missing');
    },
    dependencies: (_key, { interface: name }) => [
      { label: 'interface-exists', key: vppInterfaceKey.build({ name }) },
    ],
    claims: (_key, { ip_address }) => [`stn/${ip_address}`],
    async create(_key, rule, ctx) {
      await set(rule, true, ctx);
      return undefined;
    },
    delete: (_key, rule, _metadata, ctx) => ignoreNotFound(set(rule, false, ctx)),

    async retrieve(_correlate, ctx) {
      if (!client.has('stn_rules_dump')) return [];
      const rules = await client.dump('stn_rules_dump', {});
      const names = interfaceNames(ctx);
      return rules.flatMap(({ ip_address, sw_if_index }) => {
        const name = names.get(sw_if_index);
        if (name === undefined) return [];
        const ip = fromAddress(ip_address);
        const value = stnRuleModel.canonical({ ip_address: ip, interface: name });
        return [{ key: stnRuleKey.build({ iface: name, ip }), value, origin: 'from-NB' as const }];
      });
    },
  });
}
