/**
 * The requests of the original's programs, as they sent them to an agent on VPP, are sent to an agent on
 * the simulator. The statuses are those that the programs got; the answers have the recorded shapes.
 */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { create, db, web } from '#test/cmd/agent/test-pods.ts';
import { assertGolden, readGolden } from './golden.ts';
import { shapeOf } from './shape.ts';

const programs = ['netctl', 'contiv-crd', 'agentctl-3.1', 'agentctl-3.5'] as const;

interface Call {
  readonly command: string;
  /** Calls with credentials go to the unix socket, which needs none. */
  readonly hasCredentials: boolean;
  readonly requests: readonly Request[];
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly status: number;
}

interface Answer {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

describe('programs of the original', () => {
  let running: RunningAgent;
  before(async () => {
    running = await startAgent(makeNode());
    for (const pod of [web, db]) await create(running, pod);
    await until(() => running.agent.controller.isIdle);
  });
  after(() => running?.stop());

  const send = ({ method, path, body }: Request, isLocal: boolean): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const target = isLocal
        ? { socketPath: running.localSocket }
        : { host: '127.0.0.1', port: running.agent.port };
      const headers = {
        'user-agent': 'Go-http-client/1.1',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(method === 'PUT' && { 'content-type': 'text/plain' }),
      };
      const sent = request({ ...target, method, path, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        const { statusCode: status, headers: received } = response;
        response.on('end', () => resolve({ status, type: received['content-type'], text }));
      });
      sent.on('error', reject).end(body === undefined ? undefined : `${JSON.stringify(body)}\n`);
    });

  for (const program of programs)
    it(program, async () => {
      const answers: Record<string, unknown> = {};
      for (const { command, hasCredentials, requests } of readGolden<Call[]>(
        `${program}/calls.json`,
      ))
        for (const each of requests) {
          const { status, type, text } = await send(each, hasCredentials);
          // the simulated VPP knows few commands
          if (text.includes('cli_inband')) continue;
          const name = `${each.method} ${each.path}${each.body ? ` ${JSON.stringify(each.body)}` : ''}`;
          assert.equal(status, each.status, `${command}: ${name} ${text}`);
          answers[`${status} ${name}`] = { type, shape: shapeOf(JSON.parse(text)) };
        }
      assertGolden(`${program}/answers.json`, answers);
    });

  it('netctl finds the interface of each pod', async () => {
    const body = async (path: string) => (await running.get(path)).body;
    const interfaces = Object.values(
      (await body('//dump/vpp/v2/interfaces')) as Record<string, InterfaceDocument>,
    );
    const arps = (await body('/scheduler/dump?view=NB&descriptor=vpp-arp')) as ArpValue[];
    const { Pods } = (await body('/contiv/v1/ipam/allocations')) as { Pods: { MainIP: string }[] };
    assert.equal(Pods.length, 2);
    for (const { MainIP } of Pods) {
      const arp = arps.find(({ Value }) => Value.ipAddress === MainIP);
      const found = interfaces.find((one) => one.interface.name === arp?.Value.interface);
      assert.match(found?.interface_meta.internal_name ?? '', /^tap[0-9]+$/, MainIP);
    }
  });
});

interface InterfaceDocument {
  readonly interface: { readonly name: string };
  readonly interface_meta: { readonly sw_if_index: number; readonly internal_name: string };
}

interface ArpValue {
  readonly Value: { readonly interface: string; readonly ipAddress: string };
}
