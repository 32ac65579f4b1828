import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkRelayed } from '../../../../src/cmd/agent/cluster/relayed-documents.ts';

describe('the documents that other nodes are asked for', () => {
  it('are those of the page, with their arguments', () => {
    for (const path of [
      'readiness',
      'contiv/v1/pods?search=web&limit=10',
      'contiv/v1/pods/storefront/web-0',
      'contiv/v1/services/default/kubernetes',
      'contiv/v1/services/default/web-0:http',
      'scheduler/value?key=config%2Fvpp%2Fv2%2Finterfaces%2Fuplink',
      'trace/pair?from=a/b&to=10.96.0.1',
    ])
      checkRelayed(path);
  });

  it('are no others', () => {
    for (const path of [
      '',
      '/readiness',
      'readiness/',
      'metrics',
      'controller/events',
      'controller/resync',
      'contiv/v1/pods/storefront',
      'contiv/v1/pods/storefront/..',
      'contiv/v1/pods/%2e%2E/x',
      'contiv/v1/pods/a%2F/x y',
      'contiv/v1/pods?a=b c',
      'contiv/v1/pods?a#b',
      'contiv/v1/pods?a\r\nX: y',
      'contiv/v1/pods?a?b',
      'contiv/v1/cluster',
      'contiv/v1/cluster/document?node=a&path=readiness',
      'http://192.0.2.1/readiness',
      'scheduler/../vpp/command',
    ])
      assert.throws(() => checkRelayed(path), { code: 'CV_HTTP_BAD_REQUEST' }, path);
  });

  it('stay where they are for each path', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '%2e%2e', '%2f', '?', '#', '@', '//', 'contiv', 'v1', 'pods'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = parts.join('/');
        try {
          checkRelayed(path);
        } catch {
          return;
        }
        const url = new URL(`http://agent/${path}`);
        assert.equal(url.host, 'agent');
        assert.equal(`${url.pathname}${url.search}`, `/${path}`);
      }),
    );
  });
});
