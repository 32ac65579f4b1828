/**
 *     npm run pictures
 *
 * Makes the pictures of docs/ui.md in Chromium: views of the page of an agent with the shop and a fault, and those
 * that live of several nodes and traffic, of the demonstration (`npm start`).
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAgentProgram } from '#test/cmd/agent/agent-program.ts';
import { addPod } from '#test/cmd/agent/harness.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { openPage, startBrowser } from '#test/ui/support/browser-page.ts';
import { startShop } from '#test/ui/support/shop.ts';
import { buildPage } from './lib/page.ts';

/** Lets the pods of search reach the basket. */
const POLICIES = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: basket-from-search, namespace: storefront }
spec:
  podSelector: { matchLabels: { app.kubernetes.io/name: basket } }
  ingress:
    - from: [{ podSelector: { matchLabels: { app.kubernetes.io/name: search } } }]
      ports: [{ port: 7000 }]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: search-to-basket, namespace: storefront }
spec:
  podSelector: { matchLabels: { app.kubernetes.io/name: search } }
  policyTypes: [Egress]
  egress:
    - to: [{ podSelector: { matchLabels: { app.kubernetes.io/name: basket } } }]
      ports: [{ port: 7000 }]
`;

/** Charts have a line after the second collection. */
const CHART_MS = 11_000;
/** Until the traffic of the demonstration has been refused, too. */
const TRAFFIC_MS = 30_000;

const folder = join(import.meta.dirname, '../docs/pictures');

await buildPage();
mkdirSync(folder, { recursive: true });
const [browser, shop] = await Promise.all([startBrowser(), startShop()]);
try {
  for (const id of [2, 3, 4])
    await tellOfNode(shop.node, `node${id}`, {
      address: `172.16.0.${id}`,
      id,
      vpp: `192.168.16.${id}/24`,
    });
  // A value that VPP rejects: the overview has something to say.
  await shop.node.cluster.put(
    '/vnf-agent/node1/config/vpp/v2/interfaces/uplink2',
    '{"name":"uplink2","type":"DPDK","phys_address":"02:00:00:00:00:01"}',
  );
  await addPod(shop, { name: 'late', containerId: 'c0ffee', netns: '/run/netns/late' });
  const { body: pods } = await shop.get('/contiv/v1/ipam/allocations');
  const web = nameOf(pods, 'storefront', /^web-/);
  const event = shop.agent.controller.history.records.findLast(({ name }) =>
    name.startsWith('Add Pod'),
  )!;
  const pictures: Readonly<Record<string, string>> = {
    overview: '',
    events: `events?event=${event.seqNum}`,
    transactions: `transactions?txn=${event.transaction}`,
    values: `values?key=${encodeURIComponent('config/vpp/v2/interfaces/uplink2')}`,
    pods: 'pods',
    connectivity: 'connectivity?namespace=storefront',
    trace: `trace?from=${web}&to=storefront/catalog&port=80`,
  };
  const { page, show } = await openPage(browser, shop.agent.port);
  for (const [name, view] of Object.entries(pictures)) {
    await show(view);
    await page.waitForTimeout(name === 'pods' ? CHART_MS : 1_000);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`docs/pictures/${name}.png`);
  }
  await page.goto(`http://127.0.0.1:${shop.agent.port}/ui/#/plan`);
  await page.getByRole('textbox').first().fill(POLICIES);
  await page
    .getByRole('button', { name: /show|plan/i })
    .first()
    .click();
  await page.getByRole('heading', { level: 2, name: 'Connections' }).waitFor();
  await page.getByRole('heading', { level: 2, name: 'Connections' }).scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(folder, 'plan.png') });
  console.log('docs/pictures/plan.png');
  await pictureDemonstration();
} finally {
  await browser.close();
  await shop.stop();
}
process.exit();

async function pictureDemonstration(): Promise<void> {
  const nodes = ['--nodes', '3', '--http-port', '0'];
  const program = runAgentProgram(temporaryFolder('pictures'), '--embedded', ...nodes);
  try {
    await program.said('Ctrl-C stops them.\n');
    const [, port] = /^ {2}node-1 .*http:\/\/127\.0\.0\.1:(\d+)\/ui\//m.exec(program.text()) ?? [];
    const { page, show } = await openPage(browser, Number(port));
    await page.waitForTimeout(TRAFFIC_MS);
    const pictures: Readonly<Record<string, string>> = {
      cluster: 'cluster',
      nodes: 'nodes',
      services: 'services',
      policies: 'policies',
      flows: 'flows',
      search: 'search?for=ledger',
    };
    for (const [name, view] of Object.entries(pictures)) {
      await show(view);
      await page.waitForTimeout(name === 'nodes' ? CHART_MS : 2_000);
      await page.screenshot({ path: join(folder, `${name}.png`) });
      console.log(`docs/pictures/${name}.png`);
    }
  } finally {
    program.signal('SIGTERM');
    await program.ended;
  }
}

function nameOf(document: unknown, namespace: string, pattern: RegExp): string {
  const { Pods: pods } = document as {
    readonly Pods: readonly {
      readonly PodID: { readonly Name: string; readonly Namespace: string };
    }[];
  };
  const { PodID } = pods.find(
    (pod) => pod.PodID.Namespace === namespace && pattern.test(pod.PodID.Name),
  )!;
  return `${namespace}/${PodID.Name}`;
}
