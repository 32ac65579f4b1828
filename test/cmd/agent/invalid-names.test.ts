/** External values with names that no key, document or log line can have are rejected where they arrive. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeExternalNode, startExternalAgent } from '#test/plugins/extconfig/external-agent.ts';
import { until } from './harness.ts';

const names = {
  NUL: 'named\0x',
  'a line break': 'named\nx',
  'an escape sequence': 'named\u001b[31m',
  'the end of a line in Unicode': 'named\u2028x',
  '300 kB': 'l'.repeat(300_000),
};
const loop = (name: string) => ({ name, type: 'SOFTWARE_LOOPBACK' as const });

describe('an external name', { timeout: 60_000 }, () => {
  it('without control characters and of a usual length is required by each source', async () => {
    const node = makeExternalNode();
    for (const name of Object.values(names))
      await node.external!.put(`config/vpp/v2/interfaces/${name}`, JSON.stringify(loop(name)));
    await using agent = await startExternalAgent(node);
    const { client, running } = agent;
    for (const [what, name] of Object.entries(names)) {
      const answer = await client.put({ Interfaces: [loop(name)] });
      assert.match(answer.text, /1 of 1 items refused/, what);
      const route = { dst_network: '10.9.0.0/16', outgoing_interface: name };
      assert.match((await client.put({ StaticRoutes: [route] })).text, /1 items refused/, what);
      await node.cluster.put(
        `/vnf-agent/node1/config/vpp/v2/interfaces/${name}`,
        JSON.stringify(loop(name)),
      );
    }
    await client.put({ Interfaces: [loop('good')] });
    await until(() => running.agent.controller.isIdle);
    for (const path of ['/scheduler/graph?format=svg', '/scheduler/graph', '/scheduler/dump']) {
      const url = `http://127.0.0.1:${running.agent.port}${path}`;
      const response = await fetch(url);
      assert.notEqual(response.status, 500, `${path}: ${await response.text()}`);
    }
    const { body } = await running.get('/scheduler/status');
    const keys = JSON.stringify(body);
    assert.match(keys, /interfaces\/good"/);
    assert.doesNotMatch(keys, /named|lllll/);
  });
});
