import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAcceptedHost } from '#infra/http/host-header.ts';

describe('the Host header', () => {
  it('may be an address, a name without a dot, or a name inside the cluster', () => {
    for (const host of [
      undefined,
      '',
      '10.0.0.1:9999',
      '[fd00::1]:9999',
      '[::1]',
      'localhost:9999',
      'node1',
      'NODE1.example.com:9999',
      'contiv-vswitch.kube-system.svc:9999',
      'contiv.kube-system.svc.cluster.local',
    ])
      assert.ok(isAcceptedHost(host, 'node1.example.com'), host);
  });

  it('may not be a public name', () => {
    for (const host of [
      'evil.example',
      'node1.evil.example:9999',
      '10.0.0.1.nip.io',
      'a.b.',
      '[x.y',
    ])
      assert.ok(!isAcceptedHost(host, 'node1.example.com'), host);
  });
});
