/** Default gateways of random sources: that of a family follows from the parts of this family alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { familyOf, type IpFamily } from '#models/ip.ts';
import { resolveNode } from '#plugins/contivconf/api.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { contivConfig } from '../test-node.ts';

const gateways = {
  4: fc.integer({ min: 1, max: 9 }).map((n) => `10.0.0.${n}`),
  6: fc.integer({ min: 1, max: 9 }).map((n) => `fe80::${n}`),
};
/** One text of a source: none, one, or one of each family in any order. */
const lists = fc
  .tuple(fc.option(gateways[4]), fc.option(gateways[6]), fc.boolean())
  .map(([four, six, isTurned]) => {
    const found = [four, six].flatMap((one) => one ?? []);
    return isTurned ? found.toReversed() : found;
  });

interface Sources {
  readonly resource: readonly string[];
  readonly section: readonly string[];
  readonly all: readonly string[];
  readonly primary: IpFamily;
}

function gatewaysOf({ resource, section, all, primary }: Sources): readonly string[] {
  const both = (four: string, six: string) => (primary === 4 ? `${four},${six}` : `${six},${four}`);
  const file = contivConfig(
    JSON.stringify({
      ipamConfig: {
        podSubnetCIDR: both('10.1.0.0/16', 'fd01::/48'),
        vppHostSubnetCIDR: both('172.30.0.0/16', 'fd02::/48'),
        vxlanCIDR: both('192.168.30.0/24', 'fd04::/64'),
        serviceCIDR: both('10.96.0.0/12', 'fd05::/108'),
        defaultGateway: all.join(' , '),
      },
      nodeConfig: [{ nodeName: 'node-a', gateway: section.join(',') }],
    }),
  );
  const nodeConfig = nodeConfigModel.canonical({
    node_name: 'node-a',
    gateway: resource.join(', '),
  });
  const sources = { file, nodeName: 'node-a', nodeConfig, nics: ['Gig1'], stolen: undefined };
  const settings = resolveNode(sources);
  assert.deepEqual(settings.problems, []);
  return settings.defaultGateways;
}

const of = (family: IpFamily, texts: readonly string[]): readonly string[] =>
  texts.filter((one) => familyOf(one) === family);

describe('default gateways of random sources', () => {
  it('are in each family those of a node that has only this family, the primary one first', async (t) => {
    const property = fc.asyncProperty(
      lists,
      lists,
      lists,
      fc.constantFrom<IpFamily>(4, 6),
      async (resource, section, all, primary) => {
        const found = gatewaysOf({ resource, section, all, primary });
        const alone = (family: IpFamily) =>
          gatewaysOf({
            resource: of(family, resource),
            section: of(family, section),
            all: of(family, all),
            primary,
          });
        assert.deepEqual(found, [...alone(primary), ...alone(primary === 4 ? 6 : 4)]);
        for (const family of [4, 6] as const) {
          const [first] = [resource, section, all].flatMap((one) => of(family, one));
          assert.deepEqual(of(family, found), first === undefined ? [] : [first]);
        }
      },
    );
    await checkProperty({ file: import.meta.filename, name: t.name }, 200, property);
  });
});
