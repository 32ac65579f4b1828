/** Addresses from another IPAM plugin of the CNI. */
import { defineError } from '#infra/errors/errors.ts';
import { formatIp, type IpFamily, ipFamily, parseCidr } from '#models/ip.ts';

export const ExternalAddressError = defineError({
  name: 'ExternalAddressError',
  code: 'CV_IPAM_EXTERNAL',
  remedy:
    'Check the ipam section of the CNI configuration, or let the agent allocate addresses (useExternalIPAM: false).',
});

interface IpConfig {
  readonly address?: unknown;
}

/**
 * The first address of the family, without prefix length.
 * @param data IPConfig of the CNI as JSON, or a whole result with `ips`
 * @throws ExternalAddressError
 */
export function externalAddress(data: string, family: IpFamily): string {
  const found = findAddress(data, family);
  if (found !== undefined) return found;
  throw new ExternalAddressError(
    data === ''
      ? 'the CNI request has no address, and the agent does not allocate any (useExternalIPAM)'
      : `the CNI request has no IPv${family} address: ${data.slice(0, 200)}`,
  );
}

/** @returns undefined: there is none */
export function findAddress(data: string, family: IpFamily): string | undefined {
  for (const { address } of ipConfigs(data)) {
    const cidr = typeof address === 'string' ? parseCidr(address, 'bare') : undefined;
    if (cidr && ipFamily(cidr.address) === family) return formatIp(cidr.address);
  }
  return undefined;
}

function ipConfigs(data: string): readonly IpConfig[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const { ips } = value as { ips?: unknown };
  return (Array.isArray(ips) ? ips : [value]).filter((one) => typeof one === 'object' && one);
}
