import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { makeExternalNode, startExternalAgent } from './external-agent.ts';

const FILE = 'test/plugins/extconfig/random-requests.test.ts';

const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 4 });
const steps = fc.array(
  fc.tuple(fc.constantFrom('put', 'put', 'del', 'resync', 'restart'), numbers),
  { minLength: 4, maxLength: 8 },
);
const key = (number: number) => `config/vpp/v2/interfaces/loop${number}`;
const interfaces = (all: readonly number[]) => ({
  Interfaces: all.map((number) => ({ name: `loop${number}`, type: 'SOFTWARE_LOOPBACK' as const })),
});

it('an agent has what its clients have put, after random requests and restarts', async () => {
  const property = fc.asyncProperty(steps, async (sequence) => {
    const node = makeExternalNode();
    let agent = await startExternalAgent(node);
    let model = new Set<number>();
    try {
      for (const [method, all] of sequence) {
        if (method === 'restart') {
          await agent.stop();
          agent = await startExternalAgent(node);
        } else {
          const answer = await agent.client[method as 'put' | 'del' | 'resync'](interfaces(all));
          assert.equal(answer.text, '');
          if (method === 'resync') model = new Set(all);
          else
            for (const number of all) method === 'put' ? model.add(number) : model.delete(number);
        }
        const configured = await agent.configured([1, 2, 3, 4, 5].map(key));
        assert.deepEqual(configured, [...model].sort().map(key));
      }
    } finally {
      await agent.stop();
    }
  });
  await checkProperty({ file: FILE, name: 'an agent has what' }, 6, property);
});
