/** Output of VPP's CLI that has private keys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { withoutPrivateKeys } from '#vpp/routes.ts';

test('private keys are hidden in the output of a command', () => {
  const { privateKey, publicKey } = testKeyPair('own');
  const hex = Buffer.from(privateKey, 'base64').toString('hex');
  const line = `[0] wg0 src:10.0.0.1 port:51820 private-key:${privateKey} ${hex} public-key:${publicKey} mac-key: ab`;
  const shown = withoutPrivateKeys(`${line}\n${line.replace(` ${hex}`, '')}\n`);
  assert.ok(!shown.includes(privateKey) && !shown.includes(hex));
  assert.equal(shown.split(publicKey).length, 3);
  assert.equal(withoutPrivateKeys('show interface\n'), 'show interface\n');
});
