/** Values of WireGuard that are rejected, and keys that this node does not have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '#models/secret.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import { assertAccepted, assertRejected } from '#test/descriptors/validation.ts';
import { exampleKeys, testKeyPair } from '#test/support/wireguard-keys.ts';

const public_key = testKeyPair('peer').publicKey;
const link = { src_addr: '192.168.16.1', port: 51_820, public_key };
const valid = { name: 'wireguard0', type: 'WIREGUARD_TUNNEL', wireguard: link } as const;

test('interfaces of WireGuard', () => {
  assertRejected('vpp-interface', vppInterfaceModel, [
    [{ name: 'wireguard0', type: 'WIREGUARD_TUNNEL' }, 'wireguard.src_addr'],
    [{ ...valid, wireguard: { ...link, src_addr: '' } }, 'wireguard.src_addr'],
    [{ ...valid, wireguard: { ...link, port: 0 } }, 'wireguard.port'],
    [{ ...valid, wireguard: { ...link, port: 65_536 } }, 'wireguard.port'],
    [{ ...valid, wireguard: { ...link, public_key: '' } }, 'wireguard.public_key'],
    [{ ...valid, type: 'SOFTWARE_LOOPBACK' }, 'wireguard'],
  ]);
  assertAccepted('vpp-interface', vppInterfaceModel, [valid]);
});

test('peers of WireGuard', () => {
  const peer = {
    public_key,
    port: 51_820,
    endpoint: '192.168.16.2',
    wg_if_name: 'wireguard0',
    allowed_ips: ['10.1.2.0/24'],
  };
  const networks = Array.from({ length: 256 }, (_, at) => `10.${at}.0.0/16`);
  assertRejected('vpp-wireguard-peer', wireguardPeerModel, [
    [{ ...peer, wg_if_name: '' }, 'wg_if_name'],
    [{ ...peer, public_key: '' }, 'public_key'],
    [{ ...peer, endpoint: '' }, 'endpoint'],
    [{ ...peer, port: 0 }, 'port'],
    [{ ...peer, port: 65_536 }, 'port'],
    [{ ...peer, persistent_keepalive: 65_536 }, 'persistent_keepalive'],
    [{ ...peer, next_hops: ['10.1.3.1'] }, 'next_hops'],
    [{ ...peer, next_hops: ['fd01::1'] }, 'next_hops'],
    [{ ...peer, allowed_ips: [] }, 'allowed_ips'],
    [{ ...peer, allowed_ips: networks }, 'allowed_ips'],
    [{ ...peer, allowed_ips: ['10.1.2.0/24', '10.1.2.1/24'] }, 'allowed_ips'],
  ]);
  assertAccepted('vpp-wireguard-peer', wireguardPeerModel, [
    peer,
    { ...peer, next_hops: ['10.1.2.1'] },
    { ...peer, allowed_ips: networks.slice(1) },
  ]);
});

test('texts that are no keys', () => {
  for (const text of ['x', 'a'.repeat(43), `${public_key}=`, public_key.replace('=', 'A'), 'ü'])
    assert.throws(() => wireguardPeerModel.canonical({ public_key: text }), /key of WireGuard/);
  assert.equal(wireguardPeerModel.canonical({ public_key }).public_key, public_key);
});

test('a private key is in no text', () => {
  const { privateKey } = exampleKeys[0]!;
  const secret = new Secret(privateKey);
  assert.ok(!`${secret} ${JSON.stringify({ secret })}`.includes(privateKey));
});
