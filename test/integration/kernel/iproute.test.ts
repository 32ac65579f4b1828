/** Netlink messages against the commands of iproute2 and ethtool: the same calls, answers and state. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { iprouteHost } from '../support/iproute/host.ts';
import { kernelBackend } from '../support/linux-kernel.ts';
import { runIn } from '../support/netns.ts';
import { anyCall, comparable, runAll } from './random-calls.ts';

const CALLS = 100;

/** State that no dump contains: sysctls, checksum offload, flags of addresses. */
async function hiddenState(path: string): Promise<string> {
  const script = [
    'cat /proc/sys/net/ipv6/conf/{all,default,a,b,c}/disable_ipv6 2>/dev/null',
    'for link in a b c; do ethtool -k $link 2>&1; done',
    'ip -6 -oneline addr show',
  ];
  const lines = (await runIn(path, 'bash', '-c', script.join('; '))).split('\n');
  return lines
    .filter((line) => /^[01]$|checksum|inet6 f[cd]/.test(line))
    .map((line) => line.replace(/^\d+: /, ''))
    .join('\n');
}

describe('netlink against iproute2', { skip: withoutKernel() }, () => {
  test('random calls have the same answers and leave the same state', async () => {
    const backend = await kernelBackend();
    const { host } = backend;
    after(() => backend.close());
    await checkProperty(
      { file: 'test/integration/kernel/iproute.test.ts', name: 'random calls' },
      4,
      fc.asyncProperty(fc.array(anyCall, { minLength: CALLS, maxLength: CALLS }), async (calls) => {
        const make = async () => [await backend.makeNamespace(), await backend.makeNamespace()];
        const [ours, reference] = [await make(), await make()];
        try {
          const actual = await runAll(host, ours, calls);
          const expected = await runAll(iprouteHost, reference, calls, 'one by one');
          assert.deepEqual(actual.answers, expected.answers);
          assert.deepEqual(comparable(actual.states), comparable(expected.states));
          for (const [position, path] of ours.entries()) {
            assert.deepEqual(await host.dump(path), await iprouteHost.dump(path), 'one dump');
            const twin = reference[position]!;
            assert.equal(await hiddenState(path), await hiddenState(twin), 'hidden state');
          }
        } finally {
          for (const path of [...ours, ...reference]) await backend.removeNamespace(path);
        }
      }),
    );
  });
});
