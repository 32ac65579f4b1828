import { ipAddressRule, networkCidrRule } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { keyTemplate } from '../key-template.ts';
import { unorderedTexts } from '../rules.ts';
import { Peer } from './wireguard.gen.ts';
import { wireguardKeyRule } from './wireguard-key.ts';

export type WireguardPeer = Peer;

export const wireguardPeerKey = keyTemplate(
  'config/vpp/wg/v1/peer/{iface}/endpoint/{endpoint}/{port}',
);

export const wireguardPeerModel = defineModel<WireguardPeer>({
  message: Peer,
  keyPrefix: wireguardPeerKey.prefix(),
  key: ({ wg_if_name, endpoint, port }) =>
    wireguardPeerKey.build({ iface: wg_if_name, endpoint, port }),
  rules: {
    public_key: wireguardKeyRule,
    endpoint: ipAddressRule,
    wg_if_name: interfaceNameRule,
    allowed_ips: unorderedTexts(networkCidrRule),
    next_hops: unorderedTexts(ipAddressRule),
  },
});
