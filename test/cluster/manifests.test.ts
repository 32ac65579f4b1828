import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allExceptions, ownDeployment } from './manifests.ts';
import { defaultSettings } from './settings.ts';

describe('deployment of a cluster of the tests', () => {
  it('is the manifest, with the links of the nodes and the exceptions that it names', () => {
    const { objects, exceptions } = ownDeployment(defaultSettings);
    const text = JSON.stringify(objects);
    assert.match(text, /nodeName: n1/);
    assert.match(text, /192\.168\.16\.2\/24/);
    assert.equal(exceptions.length, text.includes('LD_PRELOAD') ? 2 : 1);
  });

  it('names addresses that hosts reach without kube-proxy', () => {
    const { objects, exceptions } = ownDeployment({ ...defaultSettings, kubeProxy: 'none' });
    const text = JSON.stringify(objects);
    assert.match(text, /"ETCD_ENDPOINTS","value":"192\.168\.100\.11:12379"/);
    assert.match(text, /"KUBERNETES_SERVICE_HOST","value":"192\.168\.100\.11"/);
    assert.equal(exceptions.length, text.includes('LD_PRELOAD') ? 3 : 2);
  });

  it('has the networks of each family, the primary one first', () => {
    const { objects } = ownDeployment({ ...defaultSettings, families: ['ipv6', 'ipv4'] });
    const text = JSON.stringify(objects);
    assert.match(text, /podSubnetCIDR: fd00:1::\/48,10\.1\.0\.0\/16/);
    assert.match(text, /ip: fd00:16::2\/64,192\.168\.16\.2\/24/);
    const all = ownDeployment({ nodes: 1, kubeProxy: 'none', families: ['ipv4', 'ipv6'] });
    assert.deepEqual(new Set(allExceptions()), new Set(all.exceptions));
  });
});
