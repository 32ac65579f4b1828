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

/** What VPP would refuse, misunderstand or not survive. @throws InvalidValueError */
export function validateDnat(key: string, value: DNat44): void {
  checkField(key, value.label !== '', 'label', 'missing');
  checkField(
    key,
    !isAmbiguous(value.label),
    'label',
    'ends as the tag of a mapping with more to say',
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
    'an external end is there twice',
  );
  const identities = new Set(value.id_mappings.map(identityEnd));
  checkField(
    key,
    identities.size === value.id_mappings.length,
    'id_mappings',
    'one is there twice',
  );
  const both = value.id_mappings.some((each) => {
    const end = identityEnd(each);
    return ends.has(end.slice(0, end.lastIndexOf('/')));
  });
  checkField(key, !both, 'id_mappings', 'the address and port are mapped in st_mappings');
}

type Check = (condition: boolean, field: string, reason: string) => void;

function validateMapping(mapping: DNat44StaticMapping, check: Check): void {
  const { external_ip, external_interface, local_ips, twice_nat_pool_ip: pool } = mapping;
  if (external_interface === '')
    check(isV4(external_ip), '.external_ip', 'has to be an IPv4 address');
  else check(external_ip === '', '.external_ip', 'excludes external_interface');
  check(mapping.external_port <= MAX_PORT, '.external_port', 'is no port');
  check(local_ips.length > 0, '.local_ips', 'missing');
  check(
    local_ips.every((each) => isV4(each.local_ip)),
    '.local_ips',
    'have to be IPv4 addresses',
  );
  const ports = local_ips.every(({ local_port }) => local_port <= MAX_PORT);
  check(ports, '.local_ips', 'local_port is no port');
  const twice = mapping.twice_nat !== 'DISABLED';
  if (pool !== '') {
    check(isV4(pool), '.twice_nat_pool_ip', 'has to be an IPv4 address');
    check(twice, '.twice_nat_pool_ip', 'says nothing without twice_nat');
    check(!isBalanced(mapping), '.twice_nat_pool_ip', 'VPP takes it for one backend only');
  }
  if (isAddressOnly(mapping)) check(!twice, '.twice_nat', 'VPP has it for ports only');
  if (!isBalanced(mapping)) return;
  check(external_interface === '', '.external_interface', 'VPP takes it for one backend only');
  check(mapping.external_port !== 0, '.external_port', 'missing, with several backends');
  const hasPorts = local_ips.every(({ local_port }) => local_port !== 0);
  check(hasPorts, '.local_ips', 'local_port is missing, with several backends');
  check(local_ips.length <= MAX_BACKENDS, '.local_ips', `more than ${MAX_BACKENDS} stop VPP`);
  const ends = new Set(local_ips.map(backendEnd));
  check(ends.size === local_ips.length, '.local_ips', 'one is there twice');
}

function validateIdentity(mapping: DNat44IdentityMapping, check: Check): void {
  const { ip_address } = mapping;
  if (mapping.interface === '') check(isV4(ip_address), '.ip_address', 'has to be an IPv4 address');
  else check(ip_address === '', '.ip_address', 'excludes interface');
  check(mapping.port <= MAX_PORT, '.port', 'is no port');
}
