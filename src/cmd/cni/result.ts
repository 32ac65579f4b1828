/** Converts the reply of the agent to a CNI result. */
import type { CNIReply } from '#models/cni/cni.gen.ts';
import { isSince, type Version } from './version.ts';

/** A reply of the agent; omitted fields are empty. */
export type Reply = { readonly [Key in keyof CNIReply]?: CNIReply[Key] };

export function addResult(reply: Reply, version: Version): object {
  const { interfaces = [], routes = [], dns = [] } = reply;
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
    ips: interfaces.flatMap(({ ip_addresses = [] }, index) =>
      ip_addresses.map(({ address, gateway }) => ({
        ...family(address),
        address,
        ...(gateway && { gateway }),
        interface: index,
      })),
    ),
    routes: routes.map(({ dst, gw }) => ({ dst, ...(gw && { gw }) })),
    dns: {
      ...merged('nameservers', dns),
      ...first('domain', dns),
      ...merged('search', dns),
      ...merged('options', dns),
    },
  };
}

type Dns = NonNullable<Reply['dns']>[number];

function merged(field: 'nameservers' | 'search' | 'options', dns: readonly Dns[]): object {
  const all = dns.flatMap((one) => one[field] ?? []);
  return all.length > 0 ? { [field]: all } : {};
}

function first(field: 'domain', dns: readonly Dns[]): object {
  const found = dns.find((one) => one[field]);
  return found ? { [field]: found[field] } : {};
}
