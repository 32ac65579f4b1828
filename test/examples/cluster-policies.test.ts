/** The policies of the cluster in examples/: their effect on a small cluster with two tenants, by `contiv-agent connectivity`. */
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { connectivity } from '#cmd/agent/connectivity.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { AskedPort } from '#plugins/policy/connectivity/explanation.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const EXAMPLES = 'examples/cluster-policies';

const namespace = (name: string, labels = '{}') =>
  `{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, labels: ${labels}}}`;
const pod = (name: string, space: string, ip: string, labels = '{}') =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, namespace: ${space}, labels: ${labels}}, ` +
  `spec: {containers: [{name: c}]}, status: {podIP: ${ip}, hostIP: 192.0.2.2}}`;

/** A NetworkPolicy that isolates web, and lets it send to db only. */
const ISOLATED =
  '{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web, namespace: blue}, ' +
  'spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress, Egress], ' +
  'egress: [{to: [{podSelector: {matchLabels: {app: db}}}]}]}}';

const cluster = [
  namespace('kube-system'),
  namespace('monitoring'),
  namespace('blue', '{tenant: blue}'),
  namespace('green', '{tenant: green}'),
  '{apiVersion: v1, kind: Node, metadata: {name: cp, labels: {node-role.kubernetes.io/control-plane: ""}}, ' +
    'status: {addresses: [{type: InternalIP, address: 192.0.2.1}]}}',
  pod('dns', 'kube-system', '10.1.1.2', '{k8s-app: kube-dns}'),
  pod('prometheus', 'monitoring', '10.1.1.3', '{app: prometheus}'),
  pod('web', 'blue', '10.1.1.4', '{app: web}'),
  pod('db', 'blue', '10.1.1.5', '{app: db}'),
  pod('web', 'green', '10.1.1.6', '{app: web}'),
  pod('other', 'green', '10.1.1.7'),
  ISOLATED,
].join('\n---\n');

describe('examples of policies of the cluster', () => {
  let manifests = '';
  before(() => {
    manifests = temporaryFolder('cv-cluster-policies');
    cpSync(EXAMPLES, manifests, { recursive: true });
    writeFileSync(join(manifests, 'cluster.yaml'), cluster);
  });

  const ask = async (from: string, to: string, port?: string) => {
    const printed: string[] = [];
    const warnings: string[] = [];
    const [protocol, number] = port?.split(' ') ?? [];
    const asked = port && { protocol: protocol as AskedPort['protocol'], port: Number(number) };
    const isPermitted = await connectivity(
      {
        manifests,
        compare: undefined,
        output: 'text',
        pair: { from, to, port: asked || undefined },
      },
      systemClock,
      { print: (text) => void printed.push(text), warn: (text) => void warnings.push(text) },
    );
    assert.deepEqual(warnings, []);
    return { isPermitted, text: printed.join('') };
  };

  const cases: [from: string, to: string, port: string, isPermitted: boolean, why: RegExp][] = [
    [
      'blue/web',
      'kube-system/dns',
      'UDP 53',
      true,
      /accepted by Admin policy dns, spec\.egress\[0\] "dns"/,
    ],
    ['green/web', 'kube-system/dns', 'TCP 53', true, /Admin policy dns/],
    [
      'green/web',
      'kube-system/dns',
      'TCP 80',
      false,
      /Baseline policy default-deny, spec\.egress\[0\]/,
    ],
    ['green/web', 'green/other', 'TCP 80', false, /denied by Baseline policy default-deny/],
    ['green/web', '198.51.100.1', 'TCP 443', false, /Baseline policy default-deny/],
    [
      'blue/web',
      'blue/db',
      'TCP 5432',
      false,
      /ingress of blue\/db:[\s\S]*Baseline policy default-deny/,
    ],
    ['blue/db', 'blue/web', 'TCP 80', false, /passed on by Admin policy tenant-blue/],
    [
      'green/web',
      'blue/web',
      'TCP 80',
      false,
      /Admin policy tenant-blue, spec\.ingress\[1\] "others"/,
    ],
    ['blue/db', 'green/web', 'TCP 80', false, /Admin policy tenant-blue, spec\.egress\[1\]/],
    ['blue/web', '192.0.2.1', 'TCP 6443', true, /Admin policy api-server/],
    ['blue/web', '192.0.2.1', 'TCP 22', false, /denied by blue\/web, whose rules do not permit it/],
    [
      'kube-system/dns',
      '169.254.169.254',
      'TCP 80',
      false,
      /no-metadata-service, spec\.egress\[0\]/,
    ],
    ['kube-system/dns', '198.51.100.1', 'TCP 443', true, /permitted, no rule denies it: TCP 443/],
    [
      'monitoring/prometheus',
      'blue/web',
      'TCP 9100',
      true,
      /Admin policy monitoring, spec\.ingress\[0\]/,
    ],
    ['monitoring/prometheus', 'green/web', 'TCP 9199', true, /monitoring-out/],
    ['monitoring/prometheus', 'green/web', 'TCP 80', false, /default-deny/],
    ['green/other', 'green/web', 'TCP 9100', false, /default-deny/],
  ];
  for (const [from, to, port, isPermitted, why] of cases)
    it(`${from} may ${isPermitted ? '' : 'not '}reach ${port} of ${to}`, async () => {
      const answer = await ask(from, to, port);
      assert.match(answer.text, why);
      assert.equal(answer.isPermitted, isPermitted, answer.text);
    });
});
