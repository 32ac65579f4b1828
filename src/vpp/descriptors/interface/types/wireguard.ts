import { defineError } from '#infra/errors/errors.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { parseIp } from '#models/ip.ts';
import { formatWireguardKey, parseWireguardKey } from '#models/vpp/wireguard-key.ts';
import type { WireguardKeys } from '#plugins/controller/api/ports/wireguard.ts';
import { fromAddress, toAddress } from '../../../binapi/addresses.ts';
import { NONE } from '../../limits.ts';
import type { InterfaceTypeHandler } from './handler.ts';

export const WireguardKeyError = defineError({
  name: 'WireguardKeyError',
  code: 'CV_VPP_WIREGUARD_KEY_UNKNOWN',
  remedy:
    'The agent makes another key pair at its next start or rotation. If the error stays, look at the folder with its state.',
});

const MAX_PORT = 0xffff;

/**
 * VPP sends from the address, in table 0, and accepts what comes to the port. Two interfaces with one port would be
 * possible, but when VPP deletes the second one it damages its list of them, in all releases: the port is the
 * identity of the interface. The interface itself has no link: it is up when it is set up.
 */
export const wireguard: InterfaceTypeHandler = {
  type: 'WIREGUARD_TUNNEL',
  mac: 'never',
  mtu: 'software',
  startsUp: false,
  downOnDelete: true,
  hasUniqueIdentity: true,

  validate(key, { wireguard: link }) {
    const { src_addr = '', port = 0, public_key = '' } = link ?? {};
    checkField(key, parseIp(src_addr) !== undefined, 'wireguard.src_addr', 'is not an IP address');
    checkField(key, port > 0 && port <= MAX_PORT, 'wireguard.port', 'is not a port');
    const isKey = parseWireguardKey(public_key) !== undefined;
    checkField(key, isKey, 'wireguard.public_key', 'missing');
  },

  dependencies: () => [],
  settings: (value) => ({ ...value.wireguard }),
  identity: ({ wireguard: link }) => link && identity(link.port),

  async create(client, { wireguard: link }, _ctx, { wireguardKeys }) {
    const { sw_if_index } = await client.request('wireguard_interface_create', {
      interface: {
        user_instance: NONE,
        sw_if_index: NONE,
        private_key: privateKeyOf(wireguardKeys, link?.public_key ?? ''),
        public_key: new Uint8Array(32),
        port: link?.port ?? 0,
        src_ip: toAddress(link?.src_addr ?? ''),
      },
      generate_key: false,
    });
    return { swIfIndex: sw_if_index };
  },

  async delete(client, _value, { swIfIndex }) {
    await client.request('wireguard_interface_delete', { sw_if_index: swIfIndex });
  },

  async dump(client) {
    if (!client.has('wireguard_interface_dump')) return [];
    const found = await client.dump('wireguard_interface_dump', {
      show_private_key: false,
      sw_if_index: NONE,
    });
    return found.map(({ interface: { sw_if_index, port, src_ip, public_key } }) => ({
      swIfIndex: sw_if_index,
      identity: identity(port),
      fields: {
        wireguard: {
          port,
          src_addr: fromAddress(src_ip),
          public_key: formatWireguardKey(public_key),
        },
      },
    }));
  },

  adopt: ({ fields }) => fields,
};

function identity(port: number): string {
  return `wireguard/${port}`;
}

/** @throws WireguardKeyError */
function privateKeyOf(keys: WireguardKeys | undefined, publicKey: string): Uint8Array {
  const secret = keys?.privateKeyOf(publicKey);
  const bytes = secret && parseWireguardKey(secret.reveal());
  if (bytes === undefined)
    throw new WireguardKeyError('this node does not have the private key', { where: publicKey });
  return bytes;
}
