/** Bytes that one pod adds to the log at level info, on a simulated southbound. */
import { addPod, cniRequest, makeNode, startAgent, until } from '#test/cmd/agent/harness.ts';
import type { Part, Row } from './row.ts';
import { thousands } from './row.ts';

const TARGET = 2_048;

export const logVolume: Part = { title: 'log volume', needs: () => false, rows };

async function* rows(): AsyncGenerator<Row> {
  await using running = await startAgent(makeNode());
  const { logged, printed } = running;
  const before = { logged: logged.length, printed: printed.length };
  const pod = { name: 'web', containerId: 'a'.repeat(64), netns: '/run/netns/web' };
  for (const reply of [await addPod(running, pod), await running.client.delete(cniRequest(pod))])
    if (reply.result !== 0) throw new Error(reply.error);
  await until(() => logged.at(-1)?.['event'] === 'Delete Pod default/web');
  const bytes = [
    ...logged.slice(before.logged).map((line) => `${JSON.stringify(line)}\n`),
    ...printed.slice(before.printed),
  ].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  yield {
    name: 'log of one pod ADD and DEL at level info',
    reference: '',
    ours: `${thousands(bytes)} bytes`,
    ratio: '',
    target: '≤ 2 kB',
    met: bytes <= TARGET,
  };
}
