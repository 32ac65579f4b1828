/** Converts the reply of the CNI service to a CNI result. */
import type { CNIReply } from '#models/cni/cni.gen.ts';
import { isSince, type Version } from './version.ts';

export function addResult(reply: CNIReply, version: Version): object {
  if (!isSince(version, '0.3.0')) return oldResult(reply, version);
  const { interfaces, routes } = reply;
  // The specification has dropped the version of an address with 1.0.0.
  const family = isSince(version, '1.0.0')
    ? () => ({})
    : (text: string) => ({ version: text.includes(':') ? '6' : '4' });
  return {
    cniVersion: version,
    interfaces: interfaces.map(({ name, mac, sandbox }) => ({
      name,
      ...(mac && { mac }),
      ...(sandbox && { sandbox }),
    })),
    ips: interfaces.flatMap(({ ip_addresses }, index) =>
      ip_addresses.map(({ address, gateway }) => ({
        ...family(address),
        address,
        ...(gateway && { gateway }),
        interface: index,
      })),
    ),
    routes: routes.map(({ dst, gw }) => ({ dst, ...(gw && { gw }) })),
    dns: dnsOf(reply),
  };
}

/** Before 0.3.0: no interfaces, and one address per family, with its routes. */
function oldResult(reply: CNIReply, version: Version): object {
  const addresses = reply.interfaces.flatMap(({ ip_addresses }) => ip_addresses);
  const ofFamily = (isIpv6: boolean) => {
    const isOfFamily = (text: string) => text.includes(':') === isIpv6;
    const found = addresses.find(({ address }) => isOfFamily(address));
    if (!found) return undefined;
    const { address: ip, gateway } = found;
    const routes = reply.routes
      .filter(({ dst }) => isOfFamily(dst))
      .map(({ dst, gw }) => ({ dst, ...(gw && { gw }) }));
    return { ip, ...(gateway && { gateway }), routes };
  };
  const [ip4, ip6] = [ofFamily(false), ofFamily(true)];
  return { cniVersion: version, ...(ip4 && { ip4 }), ...(ip6 && { ip6 }), dns: dnsOf(reply) };
}

function dnsOf({ dns }: CNIReply): object {
  return {
    ...merged('nameservers', dns),
    ...first('domain', dns),
    ...merged('search', dns),
    ...merged('options', dns),
  };
}

type Dns = CNIReply['dns'][number];

function merged(field: 'nameservers' | 'search' | 'options', dns: readonly Dns[]): object {
  const all = dns.flatMap((one) => one[field]);
  return all.length > 0 ? { [field]: all } : {};
}

function first(field: 'domain', dns: readonly Dns[]): object {
  const found = dns.find((one) => one[field]);
  return found ? { [field]: found[field] } : {};
}
