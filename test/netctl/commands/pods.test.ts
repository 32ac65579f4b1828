/** `netctl pods` with the nodes and pods of an API server. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fakeKubernetes } from '../support/kubernetes.ts';
import { NetctlProgram } from '../support/program.ts';

it('lists pods with their node, also one whose first address is the external one', async () => {
  const addresses = [
    { type: 'ExternalIP', address: '192.0.2.1' },
    { type: 'InternalIP', address: '127.0.0.1' },
  ];
  const status = { podIP: '10.1.1.2', hostIP: '127.0.0.1' };
  await using kubernetes = await fakeKubernetes({
    '/api/v1/nodes': [
      { metadata: { name: 'node1' }, status: { addresses } },
      { metadata: { name: 'without-address' } },
    ],
    '/api/v1/pods': [
      { metadata: { name: 'web', namespace: 'shop' }, status },
      { metadata: { name: 'not-scheduled', namespace: 'shop' } },
    ],
  });
  using program = new NetctlProgram();
  const args = ['pods', '-o', 'json', '--port', '1', '--kubeconfig', kubernetes.kubeconfig];
  const { stdout } = await program.run(...args);
  const { pods } = JSON.parse(stdout) as { pods: { name: string; node: string }[] };
  assert.deepEqual(
    pods.map(({ name, node }) => `${name} ${node}`),
    ['web node1'],
  );
});
