import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownDeployment } from './manifests.ts';

describe('deployment of a cluster of the tests', () => {
  it('is the manifest, with the links of the nodes and the exceptions that it names', () => {
    const { objects, exceptions } = ownDeployment(2);
    const text = JSON.stringify(objects);
    assert.match(text, /nodeName: n1/);
    assert.match(text, /192\.168\.16\.2\/24/);
    assert.equal(exceptions.length, text.includes('LD_PRELOAD') ? 2 : 1);
  });
});
