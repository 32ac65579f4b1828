import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutKubeClients } from '#test/support/requirements.ts';
import { allExceptions, exceptionsOf, ownDeployment } from './manifests.ts';
import { defaultSettings } from './settings.ts';

describe('deployment of a cluster of the tests', () => {
  it('is the manifest, with the links of the nodes and the exceptions that it names', () => {
    const text = JSON.stringify(ownDeployment(defaultSettings));
    assert.match(text, /nodeName: n1/);
    assert.match(text, /192\.168\.16\.2\/24/);
    assert.equal(exceptionsOf(defaultSettings).length, text.includes('LD_PRELOAD') ? 2 : 1);
  });

  it('encrypts between nodes on request', () => {
    const text = JSON.stringify(ownDeployment({ ...defaultSettings, transport: 'wireguard' }));
    assert.match(text, /nodeToNodeTransport: wireguard/);
  });

  it('names addresses that hosts reach without kube-proxy', () => {
    const text = JSON.stringify(ownDeployment({ ...defaultSettings, kubeProxy: 'none' }));
    assert.match(text, /"ETCD_ENDPOINTS","value":"192\.168\.100\.11:12379"/);
    assert.match(text, /"KUBERNETES_SERVICE_HOST","value":"192\.168\.100\.11"/);
  });

  it('connects the agents to proxies, and contiv-ksr to etcd, on request', {
    skip: withoutKubeClients('helm'),
  }, () => {
    const objects = ownDeployment({ ...defaultSettings, etcdProxies: 2 });
    const portOf = (kind: string) =>
      /"value":"\$\(HOST_IP\):(\d+)"/.exec(
        JSON.stringify(objects.filter((object) => object.kind === kind && isOwn(object))),
      )?.[1];
    const isOwn = ({ metadata: { name } }: { metadata: { name: string } }) =>
      name === 'contiv-vswitch' || name === 'contiv-ksr';
    assert.deepEqual([portOf('DaemonSet'), portOf('Deployment')], ['32380', '32379']);
  });

  it('has the networks of each family, the primary one first', {
    skip: withoutKubeClients('helm'),
  }, () => {
    const families = ['ipv6', 'ipv4'] as const;
    const text = JSON.stringify(ownDeployment({ ...defaultSettings, families }));
    assert.match(text, /podSubnetCIDR: fd00:1::\/48,10\.1\.0\.0\/16/);
    assert.match(text, /ip: fd00:16::2\/64,192\.168\.16\.2\/24/);
    assert.match(text, /"value":"\[\$\(HOST_IP\)\]:32379"/);
    const ipv4First = { ...defaultSettings, families: ['ipv4', 'ipv6'] as const };
    assert.match(JSON.stringify(ownDeployment(ipv4First)), /"value":"\$\(HOST_IP\):32379"/);
  });

  it('lists the exceptions of any kind of cluster', () => {
    const families = ['ipv4', 'ipv6'] as const;
    const all = exceptionsOf({
      nodes: 1,
      kubeProxy: 'none',
      families,
      transport: 'wireguard',
      etcdProxies: 1,
    });
    assert.deepEqual(new Set(allExceptions()), new Set(all));
  });
});
