/** Flows beside policies, in netctl, against a node that answers as an agent does. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { suggestPolicies } from '../../../src/netctl/suggestions/suggested-policies.ts';
import { fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

const pod = (name: string) => ({
  kind: 'pod',
  name: `shop/${name}`,
  address: '',
  labels: { app: name },
});
const outside = { kind: 'outside', name: '198.51.100.7', address: '198.51.100.7', labels: {} };

const seen = {
  node: 'node1',
  since: '2026-01-31T12:00:00Z',
  pairs: [
    { client: pod('web'), server: pod('db'), protocol: 'TCP', port: 5_432, connections: 3 },
    { client: pod('web'), server: pod('db'), protocol: 'UDP', port: 5_353, connections: 1 },
    // of an agent of an earlier release
    { client: outside, server: pod('web'), port: 80, connections: 1 },
  ],
  permissions: [
    { policy: 'shop/db', direction: 'ingress', rule: 0, connections: 3 },
    { policy: 'shop/db', direction: 'ingress', rule: 1, connections: 0 },
  ],
  unknown: 0,
};
const plan = {
  node: 'node1',
  since: '2026-01-31T11:00:00Z',
  connections: 14,
  unknown: 0,
  refused: [
    {
      client: 'shop/web',
      server: 'shop/db',
      protocol: 'TCP',
      port: 5_432,
      connections: 12,
      last: '2026-01-31T11:59:00Z',
      reason: 'shop/db is isolated',
    },
  ],
};
const clusterPlan = {
  problems: [],
  operations: [],
  services: [],
  changes: [],
  endpoints: [],
  unlisted: [],
};
const manifest = join(import.meta.dirname, '../../../examples/tour/web-reads-orders.yaml');

describe('seen connections in netctl', () => {
  it('become policies of a namespace, with what nothing has used', async () => {
    await using agent = await fakeAgent({
      'contiv/v1/flows/policies': seen,
      'contiv/v1/flows/plan': { ...plan, refused: [] },
    });
    using program = new NetctlProgram();
    const { stdout, code } = await program.run(
      'policies',
      'suggest',
      'shop',
      '--server',
      agent.address,
    );
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^# Checked: of 14 connections of the last hour none would be refused\.$/m,
    );
    assert.match(stdout, /^# {3}shop\/db, spec\.ingress\[1\]$/m);
    const found = parseAllDocuments(stdout)
      .map(
        (one) => one.toJS() as { metadata: { name: string }; spec: { ingress: object[] } } | null,
      )
      .filter((one) => one !== null);
    assert.deepEqual(
      found.map(({ metadata }) => metadata.name),
      ['seen-db', 'seen-web'],
    );
    assert.deepEqual(found[0]?.spec.ingress, [
      {
        from: [{ podSelector: { matchLabels: { app: 'web' } } }],
        ports: [
          { protocol: 'TCP', port: 5_432 },
          { protocol: 'UDP', port: 5_353 },
        ],
      },
    ]);
    assert.deepEqual(found[1]?.spec.ingress, [
      { from: [{ ipBlock: { cidr: '198.51.100.7/32' } }], ports: [{ protocol: 'TCP', port: 80 }] },
    ]);
  });

  it('permit no other pods than those that were seen, and every address of a node', () => {
    const gone = { kind: 'pod', name: 'shop/gone', address: '', labels: {} } as const;
    const node = (address: string) => ({ kind: 'node', name: 'n2', address, labels: {} }) as const;
    const db = { kind: 'pod', name: 'shop/db', address: '', labels: { app: 'db' } } as const;
    const pairs = [gone, node('10.0.0.2'), node('fd00::2')].map((client) => ({
      ...{ client, server: db, protocol: 'TCP' as const, port: 80, connections: 1 },
    }));
    const { policies, notes } = suggestPolicies('shop', [{ ...seen, permissions: [], pairs }]);
    assert.deepEqual(
      policies.map(({ spec }) => spec.ingress.flatMap(({ from }) => from)),
      [[{ ipBlock: { cidr: '10.0.0.2/32' } }, { ipBlock: { cidr: 'fd00::2/128' } }]],
    );
    assert.ok(notes.some((note) => note.startsWith('seen-db does not permit shop/gone')));
  });

  it('need a namespace', async () => {
    using program = new NetctlProgram();
    const { stderr, code } = await program.run('policies', 'suggest', '--server', '127.0.0.1:1');
    assert.equal(code, 1);
    assert.match(stderr, /no name of a namespace/);
  });

  it('that a manifest would refuse are in its plan, with the clients', async () => {
    await using agent = await fakeAgent({
      'contiv/v1/policy/plan': clusterPlan,
      'contiv/v1/flows/plan': plan,
    });
    using program = new NetctlProgram();
    const { stdout } = await program.run('plan', '-f', manifest, '--server', agent.address);
    assert.match(stdout, /Would have refused 12 of 14 connections of the last hour:/);
    assert.match(
      stdout,
      /shop\/web => shop\/db TCP 5432: 12, the last at .*: shop\/db is isolated/,
    );
  });

  it('are no obstacle to a plan where they cannot be read', async () => {
    await using agent = await fakeAgent({ 'contiv/v1/policy/plan': clusterPlan });
    using program = new NetctlProgram();
    const { stdout, stderr, code } = await program.run(
      'plan',
      '-f',
      manifest,
      '--server',
      agent.address,
    );
    assert.equal(code, 0);
    assert.match(stdout, /No connection between pods changes/);
    assert.match(stderr, /connections that were seen are not compared/);
  });
});
