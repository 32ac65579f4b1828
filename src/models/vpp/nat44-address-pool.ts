import { ipAddressRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { Nat44AddressPool } from './nat.gen.ts';

export type { Nat44AddressPool } from './nat.gen.ts';

const PREFIX = 'config/vpp/nat/v2/nat44-pool/';

/** The key contains the name of the pool, or its table and addresses if it has no name. */
export function nat44AddressPoolKey(
  pool: Pick<Nat44AddressPool, 'name' | 'vrf_id' | 'first_ip' | 'last_ip'>,
): string {
  if (pool.name !== '') return `${PREFIX}${pool.name}`;
  const last = pool.last_ip === '' ? '' : `-${pool.last_ip}`;
  return `${PREFIX}vrf/${pool.vrf_id}/address/${pool.first_ip}${last}`;
}

export const nat44AddressPoolModel = defineModel<Nat44AddressPool>({
  message: Nat44AddressPool,
  keyPrefix: PREFIX,
  key: nat44AddressPoolKey,
  rules: { first_ip: ipAddressRule, last_ip: ipAddressRule },
});
