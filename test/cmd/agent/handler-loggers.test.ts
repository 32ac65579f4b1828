/** Each event handler has a logger of its own: its level is independent of that of the event loop. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { addPod, makeNode, type RunningAgent, startAgent, until } from './harness.ts';
import { post } from './local-request.ts';
import { web } from './test-pods.ts';

const HANDLERS = [
  'contivconf',
  'nodesync',
  'podmanager',
  'ipam',
  'ipv4net',
  'service',
  'policy',
  'statscollector',
];

function setLevel({ localSocket }: RunningAgent, logger: string, level: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(
      { socketPath: localSocket, path: `/log/${logger}/${level}`, method: 'PUT' },
      (reply) => {
        reply.resume().on('end', () => resolve(reply.statusCode ?? 0));
      },
    )
      .on('error', reject)
      .end();
  });
}

describe('the loggers of event handlers', () => {
  it('are listed before the first event, and have levels of their own', async () => {
    await using running = await startAgent(makeNode(), { waits: true });
    const { body } = await running.get('/log/list');
    const listed = (body as { logger: string }[]).map(({ logger }) => logger);
    assert.deepEqual(
      HANDLERS.filter((name) => !listed.includes(name)),
      [],
    );
    for (const name of HANDLERS) assert.equal(await setLevel(running, name, 'debug'), 200, name);
    await until(() => running.agent.controller.history.records.length > 0);
    await addPod(running, web);
    assert.deepEqual(running.printed, [], 'boxes are those of the logger "controller"');
  });

  it('name the event of each line, and apply a new level to it', async () => {
    await using running = await startAgent(makeNode());
    const startup = running.logged.filter(({ msg }) => msg === 'configuration of this node');
    assert.deepEqual(
      startup.map(({ logger, seqNum, event }) => ({ logger, seqNum, event })),
      [{ logger: 'contivconf', seqNum: 0, event: 'Database Resync (Remote DB) - empty dataset' }],
    );
    assert.equal(await setLevel(running, 'contivconf', 'error'), 200);
    const before = running.logged.length;
    assert.equal((await post(running.localSocket, '/controller/resync')).status, 200);
    const lines = () => running.logged.slice(before);
    // The loop writes its line after the reply.
    await until(() => lines().some(({ logger }) => logger === 'controller'));
    assert.deepEqual(
      lines().filter(({ logger }) => logger === 'contivconf'),
      [],
    );
  });
});
