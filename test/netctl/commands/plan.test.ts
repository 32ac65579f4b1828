/** `netctl plan` of a file, with the agent of a node that has the shop of the examples. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { type Ended, NetctlProgram } from '../support/program.ts';

const SERVICE = `apiVersion: v1
kind: Service
metadata: { name: catalog-extra, namespace: storefront }
spec:
  clusterIP: 10.96.0.77
  selector: { app.kubernetes.io/name: catalog }
  ports:
    - { port: 8888, targetPort: 8081 }
`;

const ENDPOINTS = `---
apiVersion: v1
kind: Endpoints
metadata: { name: catalog-extra, namespace: storefront }
subsets:
  - addresses: [{ ip: 198.51.100.7 }]
    ports: [{ port: 8081 }]
`;

const SLICE = `---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: catalog-extra-1
  namespace: storefront
  labels: { kubernetes.io/service-name: catalog-extra }
addressType: IPv4
endpoints: [{ addresses: [198.51.100.8] }]
ports: [{ port: 8081 }]
`;

/** One that the shop has. */
const CATALOG = `apiVersion: v1
kind: Service
metadata: { name: catalog, namespace: storefront }
`;

describe('netctl plan', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'netctl-plan-'));
  const program = new NetctlProgram();
  let shop: RunningAgent;
  before(async () => {
    shop = await startShop();
  });
  after(async () => {
    await shop?.stop();
    program[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  const plan = (...args: string[]): Promise<Ended> =>
    program.run('plan', '--server', `127.0.0.1:${shop.agent.port}`, ...args);
  /** Path of a manifest with this text. */
  const manifest = (text: string): string => {
    const path = join(folder, 'objects.yaml');
    writeFileSync(path, text);
    return path;
  };

  for (const option of ['-f', '--file'])
    it(`lists the addresses and backends of a service with ${option}, and applies nothing`, async () => {
      const done = shop.agent.controller.history.records.length;
      const { code, stdout, stderr } = await plan(option, manifest(SERVICE));
      assert.deepEqual([stderr, code], ['', 0]);
      assert.match(stdout, /^Note: .* storefront\/catalog-extra are the 2 pods that it selects/m);
      assert.match(stdout, /^No connection between pods changes\.$/m);
      assert.match(stdout, /^node1: service storefront\/catalog-extra$/m);
      assert.match(
        stdout,
        /^ {2}\+ 10\.96\.0\.77:8888 TCP to 10\.\S+:8081, 10\.\S+:8081 by NAT44$/m,
      );
      assert.match(stdout, /^ {2}create config\/vpp\/nat\/v2\/dnat44\/storefront\/catalog-extra$/m);
      assert.equal(shop.agent.controller.history.records.length, done);
    });

  for (const [kind, text, backend] of [
    ['Endpoints', ENDPOINTS, '198.51.100.7:8081'],
    ['an EndpointSlice', SLICE, '198.51.100.8:8081'],
  ] as const)
    it(`takes the backends of a service from ${kind} of the same file`, async () => {
      const { code, stdout, stderr } = await plan('-f', manifest(SERVICE + text));
      assert.deepEqual([stderr, code], ['', 0]);
      assert.ok(stdout.includes(`  + 10.96.0.77:8888 TCP to ${backend} by NAT44\n`), stdout);
    });

  it('lists what the nodes lose with a service', async () => {
    const { code, stdout } = await plan('-f', manifest(CATALOG), '--as', 'remove');
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}- 10\.\S+ TCP to 10\.\S+, 10\.\S+ by NAT44$/m);
    assert.match(stdout, /^ {2}delete config\/vpp\/nat\/v2\/dnat44\/storefront\/catalog$/m);
  });

  it('has the same in the document for programs', async () => {
    const { stdout } = await plan('-f', manifest(SERVICE), '-o', 'json');
    const { nodes, failures } = JSON.parse(stdout) as {
      nodes: { services: { service: string; before: unknown; after: { port: number }[] }[] }[];
      failures: unknown[];
    };
    assert.deepEqual(failures, []);
    const [service] = nodes[0]!.services;
    assert.deepEqual([service!.service, service!.before], ['storefront/catalog-extra', null]);
    assert.deepEqual(
      service!.after.map(({ port }) => port),
      [8888],
    );
  });

  it('names the kinds that it can plan when the file has another', async () => {
    const { code, stderr } = await plan('-f', manifest('kind: Ingress\n'));
    assert.equal(code, 1);
    assert.match(stderr, /Ingress cannot be planned; .*Service, Endpoints, EndpointSlice can/);
  });

  it('needs a file for what is done with its objects', async () => {
    const { code, stderr } = await plan('--as', 'remove');
    assert.equal(code, 1);
    assert.match(stderr, /--as needs --file/);
  });
});
