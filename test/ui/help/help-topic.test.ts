import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { components } from '#netctl/status/components.ts';
import { helpTopic, runbooks, section, spans } from '../../../ui/src/views/help/help-topic.ts';

const read = (name: string) => readFileSync(`docs/${name}.md`, 'utf8');
const texts = {
  status: read('status'),
  errors: read('errors'),
  troubleshooting: read('troubleshooting'),
  runbooks: read('runbooks'),
};

describe('the help about a problem', () => {
  it('has something about each component and each error', () => {
    for (const component of Object.keys(components)) {
      const { tables } = helpTopic(texts, component, '');
      assert.equal(tables[0]?.page, 'status.md', component);
      assert.equal(tables[0]?.rows[0]?.at(-1), components[component]!.remedy);
    }
    const codes = [...texts.errors.matchAll(/^\| `(CV_\w+)`/gm)].map(([, code]) => code!);
    assert.ok(codes.length > 50);
    for (const code of codes) {
      const { tables } = helpTopic(texts, '', code);
      assert.ok(
        tables.some(({ page, rows }) => page === 'errors.md' && rows.length > 0),
        code,
      );
    }
  });

  it('has something about each state of a value that needs attention', () => {
    for (const state of ['PENDING', 'RETRYING', 'FAILED', 'INVALID']) {
      const [table] = helpTopic(texts, state, '').tables;
      assert.deepEqual([table?.page, table?.rows.length], ['troubleshooting.md', 1], state);
    }
  });

  it('names headings that the runbooks have', () => {
    for (const [component, title] of Object.entries(runbooks)) {
      assert.ok(component in components || component === 'link', component);
      const found = section(texts.runbooks, title);
      assert.ok(found && found.steps.length > 0, title);
      for (const step of found.steps) assert.doesNotMatch(step, /^\d\.|\n|^#/);
    }
  });

  it('is that of the code alone where there is one', () => {
    const rows = (component: string, code: string) =>
      helpTopic(texts, component, code).tables.flatMap(({ page, rows: its }) =>
        page === 'troubleshooting.md' ? its : [],
      );
    const of = rows('configuration', 'CV_NET_NO_LEASE');
    assert.equal(of.length, 1);
    assert.ok(rows('configuration', '').length > of.length);
    assert.deepEqual(helpTopic(texts, '', ''), { tables: [], runbook: undefined });
    assert.deepEqual(helpTopic(texts, 'none', 'CV_NONE'), { tables: [], runbook: undefined });
  });

  it('has code as code, and links as their texts', () => {
    assert.deepEqual(spans('see [`x` of y](a.md#b), then `c d`.'), [
      { text: 'see ', isCode: false },
      { text: 'x', isCode: true },
      { text: ' of y, then ', isCode: false },
      { text: 'c d', isCode: true },
      { text: '.', isCode: false },
    ]);
  });
});
