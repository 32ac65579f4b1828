import { checkField } from '#kvscheduler/api/check-field.ts';
import type { DNat44, DNat44IdentityMapping, DNat44StaticMapping } from '#models/vpp/dnat44.ts';
import {
  backendEnd,
  externalEnd,
  identityEnd,
  isAddressOnly,
  isBalanced,
  MAX_BACKENDS,
} from './mapping.ts';
import { isAmbiguous } from './mapping-tag.ts';

const MAX_PORT = 65_535;

function isV4(address: string): boolean {
  return address !== '' && !address.includes(':');
}

/** Rejects what VPP would refuse, misinterpret or crash on. @throws InvalidValueError */
export function validateDnat(key: string, value: DNat44): void {
  checkField(key, value.label !== '', 'label', 'missing');
  checkField(
    key,
    !isAmbiguous(value.label),
    'label',
    'ends like a tag with an affinity or a pool address',
  );
  for (const [position, mapping] of value.st_mappings.entries()) {
    validateMapping(mapping, (condition, field, reason) => {
      if (!condition) checkField(key, false, `st_mappings[${position}]${field}`, reason);
    });
  }
  for (const [position, mapping] of value.id_mappings.entries()) {
    validateIdentity(mapping, (condition, field, reason) => {
      if (!condition) checkField(key, false, `id_mappings[${position}]${field}`, reason);
    });
  }
  // most values are of one mapping
  if (value.st_mappings.length + value.id_mappings.length < 2) return;
  const ends = new Set(value.st_mappings.map(externalEnd));
  checkField(
    key,
    ends.size === value.st_mappings.length,
    'st_mappings',
    'an external address and port is listed twice',
  );
  const identities = new Set(value.id_mappings.map(identityEnd));
  checkField(
    key,
    identities.size === value.id_mappings.length,
    'id_mappings',
    'an entry is listed twice',
  );
  const both = value.id_mappings.some((each) => {
    const end = identityEnd(each);
    return ends.has(end.slice(0, end.lastIndexOf('/')));
  });
  checkField(key, !both, 'id_mappings', 'the address and port are also mapped in st_mappings');
}

type Check = (condition: boolean, field: string, reason: string) => void;

function validateMapping(mapping: DNat44StaticMapping, check: Check): void {
  const { external_ip, external_interface, local_ips, twice_nat_pool_ip: pool } = mapping;
  if (external_interface === '')
    check(isV4(external_ip), '.external_ip', 'must be an IPv4 address');
  else check(external_ip === '', '.external_ip', 'cannot be combined with external_interface');
  check(mapping.external_port <= MAX_PORT, '.external_port', 'is not a port');
  check(local_ips.length > 0, '.local_ips', 'missing');
  check(
    local_ips.every((each) => isV4(each.local_ip)),
    '.local_ips',
    'must be IPv4 addresses',
  );
  const ports = local_ips.every(({ local_port }) => local_port <= MAX_PORT);
  check(ports, '.local_ips', 'a local_port is not a port');
  const twice = mapping.twice_nat !== 'DISABLED';
  if (pool !== '') {
    check(isV4(pool), '.twice_nat_pool_ip', 'must be an IPv4 address');
    check(twice, '.twice_nat_pool_ip', 'has no effect without twice_nat');
    check(!isBalanced(mapping), '.twice_nat_pool_ip', 'VPP supports it for one backend only');
  }
  if (isAddressOnly(mapping)) check(!twice, '.twice_nat', 'VPP supports it for ports only');
  if (!isBalanced(mapping)) return;
  check(external_interface === '', '.external_interface', 'VPP supports it for one backend only');
  check(mapping.external_port !== 0, '.external_port', 'missing: several backends require it');
  const hasPorts = local_ips.every(({ local_port }) => local_port !== 0);
  check(hasPorts, '.local_ips', 'a local_port is missing: several backends require it');
  check(
    local_ips.length <= MAX_BACKENDS,
    '.local_ips',
    `VPP crashes with more than ${MAX_BACKENDS}`,
  );
  const ends = new Set(local_ips.map(backendEnd));
  check(ends.size === local_ips.length, '.local_ips', 'an entry is listed twice');
}

function validateIdentity(mapping: DNat44IdentityMapping, check: Check): void {
  const { ip_address } = mapping;
  if (mapping.interface === '') check(isV4(ip_address), '.ip_address', 'must be an IPv4 address');
  else check(ip_address === '', '.ip_address', 'cannot be combined with interface');
  check(mapping.port <= MAX_PORT, '.port', 'is not a port');
  if (mapping.requires_pool) check(mapping.interface === '', '.interface', 'no pool has one');
}
