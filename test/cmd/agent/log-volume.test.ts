/** Growth of the log by an event, at level info, and the facts in it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
  until,
} from './harness.ts';
import { web } from './test-pods.ts';

/** Bytes of an ADD and a DEL of one pod. */
const LIMIT = 2_048;

type Line = Readonly<Record<string, unknown>>;

class Log {
  readonly #running: RunningAgent;
  readonly #lines: number;
  readonly #texts: number;

  /** Covers the lines from now on. */
  constructor(running: RunningAgent) {
    this.#running = running;
    this.#lines = running.logged.length;
    this.#texts = running.printed.length;
  }

  get lines(): readonly Line[] {
    return this.#running.logged.slice(this.#lines);
  }

  /** Text that is not a line of JSON. */
  get printed(): string {
    return this.#running.printed.slice(this.#texts).join('');
  }

  get bytes(): number {
    return this.lines.reduce(
      (sum, line) => sum + Buffer.byteLength(`${JSON.stringify(line)}\n`),
      Buffer.byteLength(this.printed),
    );
  }

  event(name: string): Line {
    const line = this.lines.find(({ event }) => event === name);
    assert.ok(line, `no line of ${name}: ${JSON.stringify(this.lines)}`);
    return line;
  }
}

async function startedBytes(node: Node): Promise<number> {
  await using running = await startAgent(node);
  await until(async () => (await running.get('/readiness')).status === 200);
  const { length } = running.printed.join('');
  return running.logged.reduce((sum, line) => sum + JSON.stringify(line).length + 1, length);
}

/** The records of services with two endpoints each, and of pods of other nodes. */
async function fillCluster({ cluster }: Node, count: number): Promise<void> {
  const { service, endpoints, pod } = resources;
  for (let i = 0; i < count; i++) {
    const id = { name: `web-${i}`, namespace: 'default' };
    const port = [{ name: 'http', protocol: 'TCP', port: 80 }];
    const frontend = service.model.canonical({
      ...id,
      cluster_ip: `10.96.1.${i}`,
      service_type: 'ClusterIP',
      port,
    });
    const backends = endpoints.model.canonical({
      ...id,
      endpoint_subsets: [
        {
          addresses: [{ ip: `10.1.2.${i}`, node_name: 'node2' }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
      ],
    });
    const record = pod.model.canonical({ ...id, ip_address: `10.1.2.${i}` });
    await cluster.put(REFLECTOR_PREFIX + service.model.key(frontend), valueText(service, frontend));
    await cluster.put(
      REFLECTOR_PREFIX + endpoints.model.key(backends),
      valueText(endpoints, backends),
    );
    await cluster.put(REFLECTOR_PREFIX + pod.model.key(record), valueText(pod, record));
  }
}

describe('the log at level info', () => {
  it('grows by at most 2 kB with the ADD and the DEL of a pod, and names what operators need', async () => {
    await using running = await startAgent(makeNode());
    const log = new Log(running);
    assert.equal((await addPod(running, web)).result, 0);
    assert.equal((await running.client.delete(cniRequest(web))).result, 0);
    await until(() => log.lines.some(({ event }) => event === 'Delete Pod default/web'));

    assert.ok(log.bytes <= LIMIT, `${log.bytes} bytes: ${JSON.stringify(log.lines)}${log.printed}`);
    const added = log.event('Add Pod default/web');
    assert.equal(added['msg'], 'event processed');
    assert.ok((added['changes'] as string[]).includes('ipam: address 10.1.1.2 for default/web'));
    for (const field of ['seqNum', 'transaction', 'operations', 'tookMs'])
      assert.equal(typeof added[field], 'number', field);
    assert.ok((added['operations'] as number) > 10);
    assert.ok((log.event('Delete Pod default/web')['operations'] as number) > 10);
  });

  it('tells a failed ADD with its errors, at level error', async () => {
    await using running = await startAgent(makeNode());
    const log = new Log(running);
    const reply = await running.client.add(cniRequest(web));
    assert.notEqual(reply.result, 0, 'the namespace does not exist');
    const failed = log.event('Add Pod default/web');
    assert.deepEqual([failed['level'], failed['msg']], ['error', 'event failed']);
    assert.match(JSON.stringify(failed['errors']), /run\/netns/);
    assert.ok((failed['failures'] as number) > 0);
  });

  it('does not grow with the number of objects of a startup resync', async () => {
    const [empty, full] = [makeNode(), makeNode()];
    await fillCluster(full, 200);
    const [few, many] = [await startedBytes(empty), await startedBytes(full)];
    assert.ok(many <= few + 500, `${few} bytes without objects, ${many} with 600`);
  });
});
