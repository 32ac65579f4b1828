/** The alerts of Prometheus against their runbooks. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const rules = readFileSync('deploy/prometheus/rules.yml', 'utf8');
const alerts = [...rules.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name!);
const runbooks = readFileSync('docs/alerts.md', 'utf8');

describe('alerts', () => {
  it('have a section each in docs/alerts.md, which has no other', () => {
    const sections = [...runbooks.matchAll(/^## (\w+)$/gm)].map(([, name]) => name!);
    assert.deepEqual(sections.sort(), [...alerts].sort());
  });

  it('lead to their section', () => {
    const urls = [...rules.matchAll(/^ +runbook_url: (\S+)$/gm)].map(([, url]) => url);
    assert.deepEqual(
      urls,
      alerts.map((name) => `docs/alerts.md#${name.toLowerCase()}`),
    );
  });
});
