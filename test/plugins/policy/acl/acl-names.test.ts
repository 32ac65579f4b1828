import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeAclNames, podAclNames } from '#plugins/policy/acl/acl-names.ts';

describe('names of ACLs', () => {
  const long = `vpp-tap-${'f'.repeat(55)}`;

  it('sort all tables before the rules that reflect', () => {
    const names = [nodeAclNames, podAclNames('afpacketveth2-z'), podAclNames(long)];
    for (const { output, input } of names) assert.ok(output < input);
    for (const { output } of names.slice(1))
      for (const { input } of names.slice(1)) assert.ok(output < input);
  });

  it('are stored by VPP as a whole, and different for interfaces that begin alike', () => {
    const { output, input } = podAclNames(long);
    assert.deepEqual([output.length, input.length], [63, 63]);
    assert.notEqual(podAclNames(`${long.slice(0, -1)}e`).output, output);
  });
});
