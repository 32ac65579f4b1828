import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { RunningAgent } from '#test/cmd/agent/harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { type BrowserPage, openPage, startBrowser } from './support/browser-page.ts';
import { startShop } from './support/shop.ts';

const DENY_ALL = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: web-egress, namespace: storefront }
spec:
  podSelector: { matchLabels: { app.kubernetes.io/name: web } }
  policyTypes: [Egress]
`;

const WEB_EGRESS = `kind: NetworkPolicy
apiVersion: networking.k8s.io/v1
metadata: { name: web-egress, namespace: storefront }
`;

const SERVICE = `apiVersion: v1
kind: Service
metadata: { name: catalog-extra, namespace: storefront }
spec:
  selector: { app.kubernetes.io/name: catalog }
  ports:
    - { port: 8888, targetPort: 8081 }
`;

describe('plan', { skip: withoutProgram('chromium'), timeout: 120_000 }, () => {
  let browser: Browser;
  let shop: RunningAgent;
  let view: BrowserPage;
  before(async () => {
    [browser, shop] = await Promise.all([startBrowser(), startShop()]);
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });
  beforeEach(async () => {
    view = await openPage(browser, shop.agent.port, { expected: /status of 400/ });
    await view.show('plan');
  });
  afterEach(async () => {
    assert.deepEqual(view.problems, []);
    await view.close();
  });

  const show = async (text: string) => {
    await view.page.getByLabel(/Manifest/).fill(text);
    await view.page.getByRole('button', { name: 'Show the plan' }).click();
  };
  const summary = () => view.page.locator('.plan-summary');
  const error = () => view.page.getByRole('alert');
  /** Its text contains that. */
  const errorIs = (text: string) => error().getByText(text).waitFor();
  const transactions = () => shop.agent.controller.history.records.length;

  it('shows the connections that are lost when a policy goes', async () => {
    await view.assertAccessible();
    const before = transactions();
    await view.page.getByLabel('The objects are to').selectOption('remove');
    assert.match(view.page.url(), /as=remove/);
    await show(WEB_EGRESS);
    await summary().waitFor();
    assert.match(await summary().innerText(), /lost.*Nothing was applied/s);
    const rows = view.page.getByRole('row', { name: /^storefront\/web\S+ storefront\/catalog/ });
    assert.match(await rows.innerText(), /TCP 8081\s+nothing\s+lost/);
    await view.page.locator('details.operation summary').first().click();
    await view.page.locator('.removed-line').first().waitFor();
    await view.assertAccessible();
    assert.equal(transactions(), before);
  });

  it('shows the lost connections of a pasted policy that denies everything', async () => {
    await show(DENY_ALL);
    await summary().waitFor();
    await view.page.getByText('exists already; it is changed').waitFor();
    const rows = view.page.getByRole('row', { name: /^storefront\/web\S+ storefront\/catalog/ });
    assert.match(await rows.innerText(), /TCP 8081\s+nothing\s+lost/);
  });

  it('shows the mapping of a pasted service, and the backends', async () => {
    await show(SERVICE);
    await summary().waitFor();
    const text = await view.page.innerText('main');
    assert.match(text, /1 service changes; 1 operation on this node/);
    assert.match(text, /the cluster chooses the address of service storefront\/catalog-extra/);
    assert.match(text, /create config\/vpp\/nat\/v2\/dnat44\/storefront\/catalog-extra/i);
    const row = await view.page
      .getByRole('row', { name: /^storefront\/catalog-extra/ })
      .innerText();
    assert.match(
      row,
      /not served\s+10\.\S+:8888 TCP cluster-ip\s+→ 10\.1\.1\.\d+:8081, 10\.1\.1\.\d+:8081/,
    );
    await view.page.locator('details.operation summary').click();
    await view.page.getByText('"external_port": 8888').waitFor();
    await view.assertAccessible();
  });

  it('reports what cannot be planned', async () => {
    await show('kind: [');
    await errorIs('Document 1:');
    await show('just a text');
    await errorIs('Document 1 is no object.');
    await show('apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }');
    await errorIs('Deployment cannot be planned. The kinds are NetworkPolicy');
    await show('---\n---\n');
    await errorIs('There is no object in the text.');
    await view.assertAccessible();
    await show(`${SERVICE}# ${'x'.repeat(1_048_576)}`);
    await errorIs('The text has 1.0 MB; the agent accepts up to 1 MB.');
    await show('kind: Service\nmetadata: { name: a }');
    await view.page.getByText('added[0]: apiVersion is missing').waitFor();
    assert.equal(await error().count(), 0);
  });

  it('takes a file, and keeps the text while another view is shown', async () => {
    await view.page.getByLabel('File', { exact: true }).setInputFiles({
      name: 'service.yaml',
      mimeType: 'application/yaml',
      buffer: Buffer.from(SERVICE),
    });
    await view.page.waitForFunction(FILLED);
    await view.page.getByRole('link', { name: 'Trace', exact: true }).click();
    await view.page.getByRole('heading', { name: 'Trace', level: 1 }).waitFor();
    await view.page.getByRole('link', { name: 'Plan', exact: true }).click();
    assert.equal(await view.page.getByLabel(/Manifest/).inputValue(), SERVICE);
  });

  it('is used with the keyboard alone', async () => {
    const { keyboard } = view.page;
    await view.page.getByLabel(/Manifest/).focus();
    await keyboard.insertText(SERVICE);
    for (let at = 0; at < 3; at++) await keyboard.press('Tab');
    await keyboard.press('Enter');
    await summary().waitFor();
    await view.page.locator('details.operation summary').focus();
    await keyboard.press('Enter');
    await view.page.getByText('"external_port": 8888').waitFor();
  });
});

// A script for the browser.
const FILLED = `() => document.querySelector('textarea').value !== ''`;
